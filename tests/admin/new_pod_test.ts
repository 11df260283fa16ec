import assert from "node:assert/strict";
import type { FakeAdmin } from "../support/fake_admin.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { createSender, EARLIER_TRY } from "../../admin/ui/screens/new_pod_send.ts";
import { draftOf, draftSchema } from "../../admin/ui/screens/new_pod_fields.ts";
import { createApi } from "../../admin/client/api.ts";
import { PEOPLE } from "../support/world.ts";
import { podsNow, refusal, withWorld } from "./support.ts";

const isCreate = (request: Request) => request.method === "POST" && request.url.endsWith("/pods");

/** Opens the form from the list, and waits until the price is known. */
async function openForm(admin: FakeAdmin): Promise<void> {
  await admin.until("n makes one");
  await admin.press("n");
  await admin.until("Cost: $0.25/hr");
}

/** Goes to a field by its label, as one does: by the keys that the footer shows. */
async function goTo(admin: FakeAdmin, label: string): Promise<void> {
  for (let step = 0; step < 40; step++) {
    if (new RegExp(`^> ${label}`, "m").test(admin.text())) return;
    await admin.press("down");
  }
  throw new Error(`There is no field ${label}:\n${admin.text()}`);
}

Deno.test("new pod shows GPU types with price and stock from RunPod's catalog, for the chosen cloud", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 100, rows: 30 }, async (admin) => {
      await openForm(admin);
      assert.match(admin.text(), /> Name/);
      await goTo(admin, "GPU type");
      await admin.press("enter");
      const secure = await admin.until(/NVIDIA L40S +\$0\.86\/hr, 48 GB, few free/);
      assert.doesNotMatch(secure, /RTX 3090/);
      assert(secure.indexOf("A4000") < secure.indexOf("4090"), "the cheapest comes first");
      await admin.type("4090");
      await admin.press("enter");
      await admin.until("Cost: $0.69/hr and disks from now on. RunPod: some free.");
      await goTo(admin, "Cloud");
      assert.match(admin.text(), /< Secure >/);
      await admin.press("right");
      await admin.until("Cost: $0.34/hr");
      await admin.until("may have none");
      await goTo(admin, "GPU type");
      await admin.press("enter");
      await admin.until(/RTX 3090 +\$0\.22\/hr/);
    })
  );
});

Deno.test("new pod says the cost of CPU pods by their vCPUs, and that a stop loses every file", async () => {
  await withWorld((world) =>
    withAdmin(world, {}, async (admin) => {
      await openForm(admin);
      assert.match(admin.text(), /A stop loses all but \/workspace\./);
      await goTo(admin, "Hardware");
      await admin.press(" ");
      await admin.until("Cost: $0.060/hr");
      assert.match(admin.text(), /! A CPU pod has no volume: a stop loses EVERY file\./);
      assert.doesNotMatch(admin.text(), /Cloud|Volume|Mount path/);
      await goTo(admin, "vCPUs");
      await admin.press("right");
      await admin.until("Cost: $0.12/hr");
      await goTo(admin, "CPU flavor");
      await admin.press("enter");
      await admin.until(/cpu5c +\$0\.\d+\/hr for a vCPU/);
      await admin.press("esc");
      await admin.press("ctrl-u");
      await admin.type("cpu99");
      await admin.until("RunPod's catalog does not have cpu99, so its cost is not known.");
    })
  );
});

Deno.test("new pod refuses what the server would refuse as one types, and sends nothing", async () => {
  let sent = 0;
  const intercept = (request: Request) => {
    if (isCreate(request)) sent++;
    return null;
  };
  await withWorld((world) =>
    withAdmin(world, { intercept, columns: 120, rows: 40 }, async (admin) => {
      await openForm(admin);
      await goTo(admin, "Volume");
      await admin.press("ctrl-u");
      await admin.type("5");
      await admin.until("! Volume must be 0 or from 10 to 2000: RunPod refuses a volume under 10 GB");
      await admin.press("ctrl-u");
      await admin.type("0");
      await admin.until("! Without a volume a stop loses EVERY file.");
      await goTo(admin, "Container disk");
      await admin.press("ctrl-u");
      await admin.type("501");
      await admin.until("! Container disk must be a whole number from 1 to 500");
      await admin.press("ctrl-u");
      await admin.type("20");
      await goTo(admin, "Image");
      await admin.type("two words");
      await admin.until("! Image must be text of at most 200 characters");
      await admin.press("ctrl-u");
      await goTo(admin, "Environment");
      await admin.press("enter");
      await admin.type("GODFATHER_X");
      await admin.until("! Environment names starting with GODFATHER_ are reserved");
      await admin.press("ctrl-u");
      await admin.type("1X");
      await admin.until("! Environment names must match [A-Za-z_][A-Za-z0-9_]*");
      await admin.press("ctrl-d");
      await admin.untilGone("Environment names must match");
      await goTo(admin, "Listed people");
      await admin.type("1234");
      await admin.until("! Listed people must hold Discord ids");
      await admin.press("ctrl-s");
      await admin.until("> Listed people");
      assert.equal(sent, 0);
    })
  );
});

Deno.test("new pod has env rows that are added and removed, says who can read them, and names each once", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 100, rows: 40 }, async (admin) => {
      await openForm(admin);
      await goTo(admin, "Environment");
      await admin.until("Everyone who can log in to the pod can read these values there.");
      for (const [name, value] of [["HF_TOKEN", "hf_1 with a space"], ["MODE", "fast"], ["MODE", "slow"]]) {
        while (!/> .*\+ add/.test(admin.text())) await admin.press("down");
        await admin.press("enter");
        await admin.type(name!);
        await admin.press("down");
        await admin.type(value!);
      }
      await admin.until("! Environment must hold each name once: MODE");
      await admin.press("ctrl-d");
      await admin.untilGone("each name once");
      await admin.press("ctrl-s");
      await admin.until("costs money from now on");
      const sent = world.runpod.requests.findLast(({ method, path }) => method === "POST" && path.endsWith("/pods"));
      const { env } = sent!.body as { env: Record<string, string> };
      assert.equal(env.HF_TOKEN, "hf_1 with a space");
      assert.equal(env.MODE, "fast");
    })
  );
});

Deno.test("new pod keeps what was typed when the server refuses, and a changed form makes the pod after that", async () => {
  let refuseWith: Response | null = null;
  const keys: (string | null)[] = [];
  const intercept = (request: Request) => {
    if (!isCreate(request)) return null;
    keys.push(request.headers.get("idempotency-key"));
    return refuseWith?.clone() ?? null;
  };
  await withWorld((world) =>
    withAdmin(world, { intercept }, async (admin) => {
      await openForm(admin);
      await admin.type("lab");
      for (
        const [status, sentence, code] of [
          [400, "RunPod has no free GPU of this type", "runpod_no_capacity"],
          [409, "The budget of 2026-11 is spent: 10.00 of 10.00 USD", "budget_reached"],
          [403, "You are not an officer of this organization", "not_an_officer"],
          [507, "The server's disk is full, so the pod was not created", "disk_full"],
        ] as const
      ) {
        refuseWith = refusal(status, sentence, code);
        await admin.press("ctrl-s");
        await admin.until(sentence);
        assert.match(admin.text(), /Name +lab/);
        assert(!admin.offered().some((one) => one.startsWith("ctrl-t")), "it is known that nothing was made");
      }
      refuseWith = null;
      await admin.press("ctrl-s");
      await admin.until("lab is being made, and costs money from now on");
      await admin.until(/> lab/);
      assert.equal((await podsNow(world)).length, 1);
      assert.equal(new Set(keys.slice(0, 4)).size, 4, "a refusal that settles the matter ends the key");
      assert(keys.every((key) => key !== null));
    })
  );
});

Deno.test("a create whose outcome is unknown is said, leads to attention, and a second send buys no second pod", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 100, rows: 30 }, async (admin) => {
      await openForm(admin);
      world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
      await admin.type("lost-one");
      await admin.press("ctrl-s");
      await admin.until("not known yet: it is being looked for");
      assert(admin.offered().includes("ctrl-t attention"));
      await admin.press("ctrl-s");
      await admin.until("A create with this name is not settled yet");
      await admin.press("ctrl-t");
      await admin.until("create unsettled");
      await admin.press("esc");
      await admin.until(/Name +lost-one/);
      const creates = world.runpod.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/pods"));
      assert.equal(creates.length, 1);
    })
  );
});

Deno.test("a create whose answer is lost on the way is sent again with the same key, and makes one pod", async () => {
  let isCut = true;
  await withWorld((world) => {
    const intercept = (request: Request) => {
      if (!isCreate(request) || !isCut) return null;
      isCut = false;
      return world.app.fetch(request, { isOperator: true, account: "test", address: "192.0.2.9" }).then(() => {
        throw new Refusal(
          "The server went away before it answered; whether the request was carried out is not known",
          6,
        );
      });
    };
    return withAdmin(world, { intercept, columns: 120 }, async (admin) => {
      await openForm(admin);
      await admin.type("once");
      await admin.press("ctrl-s");
      await admin.until("whether the request was carried out is not known");
      assert(admin.offered().includes("ctrl-t attention"));
      await admin.untilGone("connection lost");
      await admin.press("ctrl-s");
      await admin.until("once is being made");
      assert.equal((await podsNow(world)).length, 1);
    });
  });
});

Deno.test("a form that was changed after a lost answer buys another pod only after a question", async () => {
  let isCut = true;
  await withWorld((world) => {
    const intercept = (request: Request) => {
      if (!isCreate(request) || !isCut) return null;
      isCut = false;
      return world.app.fetch(request, { isOperator: true, account: "test", address: "192.0.2.9" }).then(() => {
        throw new Refusal("The server went away; what came of the request is not known", 6);
      });
    };
    return withAdmin(world, { intercept, columns: 100 }, async (admin) => {
      await openForm(admin);
      await admin.type("one");
      await admin.press("ctrl-s");
      await admin.until("is not known");
      await admin.untilGone("connection lost");
      await admin.type("-b");
      await admin.press("ctrl-s");
      await admin.until("An earlier try of this form may have made a pod");
      await admin.press("ctrl-s");
      assert.equal((await podsNow(world)).length, 1);
      await admin.press("ctrl-n");
      await admin.until("Sending the form again may buy a SECOND");
      await admin.press("y");
      await admin.press("ctrl-s");
      await admin.until("one-b is being made");
      assert.equal((await podsNow(world)).length, 2);
    });
  });
});

Deno.test("createSender keeps its key while the outcome is open, and ends it with a refusal that settles it", async () => {
  let made = 0;
  const sender = createSender(() => `key-${++made}`);
  const keys: (string | null)[] = [];
  const sendTo = async (answer: () => Response) => {
    const api = createApi({
      baseUrl: "http://test",
      isOperator: true,
      close: () => Promise.resolve(),
      fetch: (request) => {
        keys.push(request.headers.get("idempotency-key"));
        return Promise.resolve(answer());
      },
    });
    await assert.rejects(sender.send({ name: "lab" })(api, "org"), Refusal);
    return keys.at(-1);
  };
  const lost = () => Response.json({ error: "…", code: "runpod_unavailable", attention_id: "x" }, { status: 424 });
  assert.equal(await sendTo(lost), "key-1");
  assert.equal(await sendTo(() => new Response("bad gateway", { status: 502 })), "key-1");
  assert.equal(await sendTo(() => refusal(429, "Slower", "rate_limited")), "key-1");
  assert.equal(await sendTo(() => refusal(500, "Something failed", "internal_error")), "key-1");
  assert.equal(await sendTo(() => refusal(409, "Used before", "idempotency_conflict")), "key-1");
  assert.equal(await sendTo(() => refusal(424, "RunPod cannot be reached", "runpod_unavailable")), "key-1");
  assert.equal(await sendTo(() => refusal(400, "No", "runpod_no_capacity")), "key-2");
  assert.equal(await sendTo(lost), "key-3");
  assert.match(EARLIER_TRY, /earlier try/);
});

Deno.test("new pod says why RunPod's prices are not known, takes what is typed, and proposes known types", async () => {
  const intercept = (request: Request) =>
    request.url.includes("/catalog/") ? refusal(424, "RunPod cannot be reached", "runpod_unavailable") : null;
  await withWorld((world) =>
    withAdmin(world, { intercept }, async (admin) => {
      await admin.until("n makes one");
      await admin.press("n");
      await admin.until("The cost is not known: RunPod cannot be reached");
      await goTo(admin, "GPU type");
      await admin.press("enter");
      await admin.until("NVIDIA H100 80GB HBM3");
      await admin.type("l40s");
      await admin.press("enter");
      await admin.until(/> GPU type +NVIDIA L40S/);
    })
  );
});

Deno.test("new pod is reached by :new, works in 40x12, shows the default image, and asks before typed text is lost", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 40, rows: 12 }, async (admin) => {
      await admin.until("n makes one");
      await admin.press(":");
      await admin.type("new");
      await admin.press("enter");
      await admin.until("Cost: $0.25/hr");
      await admin.type("日本語\u202elab");
      await admin.press("down");
      await admin.until("\\u{202e}lab");
      await goTo(admin, "Image");
      await admin.press("down");
      await admin.until(/> Environment/);
      await admin.press("up", "up");
      await admin.until(/Image +theaisociety/);
      await goTo(admin, "Environment");
      assert.match(admin.text(), /Cost: \$0\.25\/hr and disks from now on\./);
      await admin.resize(200, 50);
      await admin.until("Everyone who can log in to the pod");
      await admin.until(/Provider +RunPod/);
      await admin.resize(40, 12);
      await admin.press("esc");
      await admin.until("What you typed is lost");
      await admin.press("y");
      await admin.until("n makes one");
    })
  );
});

Deno.test("the people of a new pod are found by name and pasted in the form, and get access with the create", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 100, rows: 30 }, async (admin) => {
      await openForm(admin);
      await admin.type("shared");
      await goTo(admin, "Listed people");
      assert(admin.offered().includes("enter find people"));
      await admin.press("enter");
      await admin.until("Nobody is listed");
      await admin.press("a");
      await admin.until("member");
      await admin.press("/");
      await admin.type("mem");
      await admin.until("1 found");
      await admin.press("enter", "enter");
      await admin.until(/listed +member/);
      await admin.press("esc", "esc");
      await admin.until("Listed people 1");
      await admin.until(new RegExp(`> member +${PEOPLE.member}`));
      await admin.press("i");
      await admin.paste(`${PEOPLE.exOfficer}, <@${PEOPLE.stranger}>\n12345`);
      await admin.press("ctrl-s");
      await admin.until("Listed people 4");
      await admin.until(/exOfficer/);
      assert.match(admin.text(), /not known +12345/);
      await admin.press("j");
      await admin.until(/> not known +12345/);
      await admin.press("d");
      await admin.untilGone("12345");
      await admin.press("esc");
      await admin.until(new RegExp(`Listed people +${PEOPLE.member} ${PEOPLE.stranger} ${PEOPLE.exOfficer}`));
      await admin.press("ctrl-s");
      await admin.until("shared is being made");
      assert.deepEqual((await podsNow(world))[0].allowed_users, [PEOPLE.member, PEOPLE.stranger, PEOPLE.exOfficer]);
    })
  );
});

Deno.test("draftOf leaves out what is not asked for, and drops empty rows only", () => {
  const { request, doubled } = draftOf({
    name: "lab",
    use_cpu_only: true,
    vcpu_count: "4",
    env: [["", ""], [" A ", " x "], ["", "orphan"]],
    allowed_users: "12345 23456,12345",
    is_public: false,
  });
  assert.deepEqual(request, {
    name: "lab",
    use_cpu_only: true,
    vcpu_count: 4,
    env: { A: " x ", "": "orphan" },
    allowed_users: ["12345", "23456"],
    is_public: false,
  });
  assert.deepEqual(doubled, []);
  const issues = draftSchema.safeParse({ request, doubled: ["A"] }).error!.issues.map(({ path, message }) => [
    path[0],
    message,
  ]);
  assert.deepEqual(issues, [
    ["env", "env must hold each name once: A"],
    ["env", "env names must match [A-Za-z_][A-Za-z0-9_]*"],
  ]);
});
