import assert from "node:assert/strict";
import { type Demo, startDemo } from "../../server/demo/start.ts";
import { MEMBER, OFFICER, STRANGER } from "../../server/demo/people.ts";
import { createLog } from "../../server/log.ts";
import { type Chromium, startChromium, type Tab } from "../support/chromium.ts";
import { lacks } from "../support/needs.ts";

const TOKEN = /^plat_[A-Za-z0-9_-]{43}$/;
const text = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`;

/** Fills the form of the stand-in Discord as a person does, and presses one of its buttons. */
async function answerDiscord(tab: Tab, demo: Demo, personId: string, button: "Authorize" | "Cancel"): Promise<void> {
  assert.equal(new URL(await tab.url()).origin, demo.facts.discord_url, await tab.evaluate(text("body")));
  await tab.leave(`(() => {
    document.getElementById("user_id").value = ${JSON.stringify(personId)};
    document.getElementById("sign_in_code").value = ${JSON.stringify(demo.signInCode)};
    [...document.querySelectorAll("button")].find((one) => one.textContent === ${JSON.stringify(button)}).click();
  })()`);
}

/** Goes through a whole sign-in in a tab of its own. */
async function signIn(chromium: Chromium, demo: Demo, flow: string, personId: string, button: "Authorize" | "Cancel") {
  const tab = await chromium.newTab();
  await tab.goto(`${demo.facts.url}/api/compute/${demo.facts.org}/${flow}`);
  await answerDiscord(tab, demo, personId, button);
  assert.deepEqual(tab.takeComplaints(), [], "the browser complains about a page");
  return tab;
}

/** What a person would copy from the box after one click into it. */
const COPIED = `(() => {
  const box = document.querySelector("pre");
  const style = getComputedStyle(box);
  return { text: box.innerText, select: style.userSelect, background: style.backgroundColor };
})()`;

async function shownToken(tab: Tab): Promise<string> {
  const box = await tab.evaluate<{ text: string; select: string; background: string }>(COPIED);
  assert.match(box.text, TOKEN, "the box holds the token and nothing else");
  assert.equal(box.select, "all", "one click selects it whole");
  assert.notEqual(box.background, "rgba(0, 0, 0, 0)", "the page's style was refused by its own policy");
  return box.text;
}

async function get(demo: Demo, path: string, token: string) {
  const answer = await fetch(`${demo.facts.url}/api/compute/${demo.facts.org}/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, body: await answer.json() };
}

/** A request that the page itself sends, with its cookies. */
const fromPage = (method: string, path: string, body?: unknown) =>
  `fetch(${JSON.stringify(path)}, { method: ${JSON.stringify(method)}${
    body === undefined ? "" : `, body: ${JSON.stringify(JSON.stringify(body))}`
  } }).then(async (answer) => ({ status: answer.status, body: await answer.json() }))`;

/** A page of somebody else with a form that writes at ours: on a neighbouring port, whose forms bring the cookie along, and on another site. */
function otherSite(target: string) {
  const page = `<!doctype html><form method="post" action="${target}"></form>`;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(page, { headers: { "content-type": "text/html" } }),
  );
  const { port } = server.addr;
  return {
    neighbour: `http://127.0.0.1:${port}/`,
    foreign: `http://localhost:${port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test({
  name: "a browser goes through the three sign-ins of a running demo, cancels one, and uses what it got",
  ignore: lacks("chromium"),
  async fn(t) {
    const warnings: string[] = [];
    const log = { ...createLog((line) => void warnings.push(line), Date.now), info: () => {} };
    const demo = await startDemo({ port: 0, log });
    try {
      const chromium = await startChromium();
      try {
        await walkThrough(t, chromium, demo);
      } finally {
        await chromium.close();
      }
    } finally {
      await demo.close();
    }
    for (const line of warnings) assert.ok(!/plat_[A-Za-z0-9_-]{20}/.test(line), "a token is in the log");
  },
});

async function walkThrough(t: Deno.TestContext, chromium: Chromium, demo: Demo): Promise<void> {
  const { url, org, pod_id } = demo.facts;

  await t.step("a member gets a CLI token that lists the demo's pod at once", async () => {
    const tab = await signIn(chromium, demo, "cli/login", MEMBER.id, "Authorize");
    assert.equal(await tab.evaluate(text("h1")), "Signed in to Demo Society.");
    const token = await shownToken(tab);
    const { status, body } = await get(demo, "me/pods", token);
    assert.equal(status, 200);
    assert.deepEqual(body.pods.map((pod: { id: string; status: string }) => [pod.id, pod.status]), [[
      pod_id,
      "RUNNING",
    ]]);
    assert.equal((await get(demo, "me/pods", demo.facts.member.token)).status, 401, "the older token is revoked");

    await tab.leave("location.reload()");
    assert.match(
      await tab.evaluate<string>(text("body")),
      /not started here, or was cancelled/,
      "a reload shows no token",
    );
    assert.equal(await tab.evaluate(text("pre")), null);
  });

  await t.step("cancelling gets a page that says what to do, and no token", async () => {
    const tab = await signIn(chromium, demo, "cli/login", MEMBER.id, "Cancel");
    assert.equal(
      await tab.evaluate(text("p")),
      "This sign-in was not started here, or was cancelled. Run godfather auth again.",
    );
    assert.equal(await tab.evaluate(text("pre")), null);
  });

  await t.step("a stranger and a member who wants an officer token are told no", async () => {
    const stranger = await signIn(chromium, demo, "cli/login", STRANGER.id, "Authorize");
    assert.equal(
      await stranger.evaluate(text("p")),
      "You need to be in the Demo Society Discord server to use its pods.",
    );
    const member = await signIn(chromium, demo, "officer/login", MEMBER.id, "Authorize");
    assert.equal(await member.evaluate(text("p")), "You need to be an officer of Demo Society to get this token.");
  });

  await t.step("an officer gets an officer token that opens the officer routes", async () => {
    const tab = await signIn(chromium, demo, "officer/login", OFFICER.id, "Authorize");
    const token = await shownToken(tab);
    const { status, body } = await get(demo, "pods", token);
    assert.equal(status, 200);
    assert.deepEqual(body.pods.map((pod: { id: string }) => pod.id), [pod_id]);
    assert.equal((await get(demo, "me/pods", token)).status, 401);
  });

  await t.step(
    "a session signs the browser in: its pages read and write, and its cookie is out of scripts' reach",
    async () => {
      const back = `/api/compute/${org}/me`;
      const tab = await signIn(
        chromium,
        demo,
        `session/login?return=${encodeURIComponent(back)}`,
        OFFICER.id,
        "Authorize",
      );
      assert.equal(await tab.url(), url + back);
      assert.equal(JSON.parse(await tab.evaluate<string>(text("body"))).discord_id, OFFICER.id);
      assert.equal(await tab.evaluate("document.cookie"), "");
      const pods = await tab.evaluate<{ status: number; body: { pods: { id: string }[] } }>(
        fromPage("GET", `/api/compute/${org}/me/pods`),
      );
      assert.deepEqual([pods.status, pods.body.pods.map((pod) => pod.id)], [200, [pod_id]]);
      const settings = fromPage("PUT", `/api/compute/${org}/settings`, { pod_image: "from-the-page:1" });
      assert.equal((await tab.evaluate<{ status: number }>(settings)).status, 200);

      const logout = `/api/compute/${org}/session/logout`;
      await using attacker = otherSite(`${url}${logout}`);
      const answers: [string, string][] = [[attacker.neighbour, "cross_site_refused"], [
        attacker.foreign,
        "sign_in_required",
      ]];
      for (const [address, code] of answers) {
        await tab.goto(address);
        await tab.leave("document.forms[0].submit()");
        assert.equal(JSON.parse(await tab.evaluate<string>(text("body"))).code, code, address);
      }
      tab.takeComplaints();
      await tab.goto(url + back);
      assert.equal(JSON.parse(await tab.evaluate<string>(text("body"))).discord_id, OFFICER.id, "the session goes on");

      const out = await tab.evaluate<{ status: number }>(fromPage("POST", logout));
      assert.equal(out.status, 200);
      const after = await tab.evaluate<{ status: number }>(fromPage("GET", `/api/compute/${org}/me/pods`));
      assert.equal(after.status, 401);
    },
  );

  await t.step("the start page shows the command for the client", async () => {
    const tab = await chromium.newTab();
    await tab.goto(`${url}/${org}`);
    assert.equal(await tab.evaluate(text("pre")), `godfather auth --api-url ${url} --org ${org}`);
    assert.deepEqual(tab.takeComplaints(), []);
  });
}
