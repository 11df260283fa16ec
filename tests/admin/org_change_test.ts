/** What was begun in one org stays with it, whatever org is shown when it goes on. */
import assert from "node:assert/strict";
import { entry, listing } from "./files_support.ts";
import { refusal, run, sentence, withPods } from "./support.ts";
import { eventually } from "../support/world.ts";

const orgsOf = (requests: readonly Request[]) =>
  requests.map(({ url }) => /\/api\/compute\/([^/]+)\//.exec(new URL(url).pathname)?.[1]);

Deno.test("a change that waits after a 429 is never made in the org that one went to meanwhile", async () => {
  const changes: Request[] = [];
  const intercept = (request: Request) => {
    if (request.method !== "PUT") return null;
    changes.push(request);
    const refused = refusal(429, "Too many requests", "rate_limited");
    refused.headers.set("retry-after", "1");
    return refused;
  };
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await run(admin, "settings", "> Compute");
    await admin.press("enter");
    await admin.until("Press y");
    await admin.press("y");
    await eventually(() => changes.length === 1, "it is asked for");
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "orgpods  other");
    await admin.until(sentence("! org: It was not sent, because this is another organization now"));
    assert.deepEqual(orgsOf(changes), ["org"]);
  });
});

Deno.test("a question about one org does not open over another one", async () => {
  const answer = Promise.withResolvers<void>();
  const changes: Request[] = [];
  const intercept = async (request: Request) => {
    if (request.method !== "PUT") return null;
    changes.push(request);
    if (changes.length === 1) await answer.promise;
    return null;
  };
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await run(admin, "settings", "> Compute");
    await admin.press("enter");
    await admin.until("Press y");
    await admin.press("y");
    await eventually(() => changes.length === 1, "it is asked for");
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "orgpods  other");
    await admin.until("There are no pods yet");
    answer.resolve();
    await eventually(() => !admin.admin.state.busy.includes("Switch compute off"), "the answer has come");
    assert.deepEqual(admin.admin.state.layers.map(({ screen }) => screen.id), ["pods"]);
    assert.deepEqual(orgsOf(changes), ["org"]);
  });
});

Deno.test("what came of a change in one org is said with its name when another one is shown", async () => {
  const answer = Promise.withResolvers<void>();
  let stops = 0;
  const intercept = async (request: Request) => {
    if (!request.url.endsWith("/action")) return null;
    stops++;
    await answer.promise;
    return null;
  };
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await admin.press("x");
    await admin.until("Press y");
    await admin.press("y");
    await eventually(() => stops === 1, "it is asked for");
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "orgpods  other");
    await admin.until("This is other");
    answer.resolve();
    await admin.until("! org: The pod had no volume");
  });
});

Deno.test("a transfer that ends while another org is shown is said with the name of its own", async () => {
  const answer = Promise.withResolvers<Response>();
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const intercept = (request: Request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/files")) return listing([entry("a.txt", { size: 3 })]);
    return pathname.endsWith("/files/download") ? answer.promise : null;
  };
  try {
    await withPods(["workshop"], { intercept, env: { HOME: folder } }, async (admin) => {
      await admin.until(/^> workshop/m);
      await admin.press("f");
      await admin.until("> a.txt");
      await admin.press("d");
      await admin.until("To which file");
      await admin.press("ctrl-u");
      await admin.type(`${folder}/a.txt`);
      await admin.press("enter");
      await admin.until("Download a.txt");
      await admin.untilGone("To which file");
      await run(admin, "orgs", "* here");
      await run(admin, "org other", "orgpods  other");
      answer.resolve(new Response("abc", { headers: { "content-length": "3" } }));
      await admin.until("org: a.txt is saved as");
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("going to another org can be given up, and a late answer does not lead away from where one is", async () => {
  const answers: PromiseWithResolvers<void>[] = [];
  let isSlow = true;
  const intercept = async (request: Request) => {
    if (!isSlow || !request.url.endsWith("/other/me")) return null;
    const answer = Promise.withResolvers<void>();
    answers.push(answer);
    await answer.promise;
    return null;
  };
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "Go to other …");
    await admin.press("ctrl-x");
    await admin.until("It was given up here");
    answers[0]!.resolve();
    await admin.until("orgpods  org ");
    assert(!admin.admin.state.busy.includes("Go to other"));
    await run(admin, "org other", "Go to other …");
    // A form that was begun meanwhile is not lost.
    await run(admin, "new", "New pod");
    await admin.type("lab");
    answers[1]!.resolve();
    await eventually(() => !admin.admin.state.busy.includes("Go to other"), "the answer has come");
    assert.match(admin.text(), /orgpods {2}org /);
    assert.match(admin.text(), /> Name +lab/);
    await admin.press("esc");
    await admin.until("Press y to leave it");
    await admin.press("y");
    isSlow = false;
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "orgpods  other");
  });
});

Deno.test("an org that was added since the admin began is in the list of orgs", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    await admin.until(/^> workshop/m);
    const row = world.db.get<Record<string, string | number | null>>(
      "select * from organizations where prefix = 'other'",
    );
    const copy = { ...row, id: null, guild_id: "500000000000000077", prefix: "third", name: "Third Society" };
    const names = Object.keys(copy);
    world.db.run(
      `insert into organizations (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
      ...Object.values(copy),
    );
    await run(admin, "orgs", /third +Third Society/);
  });
});
