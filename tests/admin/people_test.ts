import assert from "node:assert/strict";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { PEOPLE, type Person } from "../support/world.ts";
import { refusal, type TestWorld, withPods } from "./support.ts";

const session = (username: string, name: string | null, id: string | null, is_admin: boolean, seconds: number) => ({
  username,
  name,
  discord_id: id,
  is_admin,
  seconds,
});

/** Answers for who is connected, as a pod with people on it gives them. */
const connected = (sessions: unknown[], extra: Record<string, unknown> = {}) => (request: Request) =>
  request.url.endsWith("/members/connected")
    ? Response.json({
      pod_id: "x",
      state: "known",
      reason: null,
      sessions,
      connections: sessions.length,
      certificates: [],
      clock_offset_seconds: null,
      ...extra,
    })
    : null;

async function certificateFor(world: TestWorld, id: string, as: Person): Promise<string> {
  const body = { public_key: publicLine(generateKeyPair().publicKey, "laptop") };
  const answer = await world.call("POST", `/api/compute/org/me/pods/${id}/connect`, { as, body });
  assert.equal(answer.status, 200, answer.text);
  const { json } = await world.call("GET", `/api/compute/org/pods/${id}/members`, { as: "officer" });
  return json.recent[0].serial;
}

Deno.test("people shows who is connected with folder and since when, officers marked as Root", async () => {
  const intercept = connected([
    session("member-0002", "Mo Member", PEOPLE.member, false, 7_500),
    session("root", "Olivia Officer", PEOPLE.officer, true, 59),
    session("evil", "evil\u202ename\u0007", null, false, 90_000),
  ]);
  await withPods(["lab"], { intercept, columns: 100 }, async (admin) => {
    await admin.until(/^> lab/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("p");
    const text = await admin.until("[Connected now 3]");
    assert.match(text, /Access: All members/);
    assert.match(text, /> Mo Member +2h 05m +member-0002/);
    assert.match(text, /Olivia Officer +Root +59 s +root/);
    assert.match(text, /evil\\u\{202e\}name\\u\{7\}/);
    assert.match(text, /None in the last 90 days/);
    await admin.press("j");
    await admin.until(/> Olivia/);
    await admin.press("a");
    await admin.until("Open to ALL members.");
  });
});

Deno.test("people shows recent certificates with serial and end, and all about one", async () => {
  await withPods(["lab"], {}, async (admin, world, [id]) => {
    const serial = await certificateFor(world, id!, "member");
    world.clock.advance(60_000);
    const root = await certificateFor(world, id!, "officer");
    await admin.until(/^> lab/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("p", "tab");
    const text = await admin.until("[Recent certificates 2]");
    assert.match(text, new RegExp(`> officer +Root +Tue 1 Dec 01:\\d\\d +${root.slice(0, 17)}`));
    assert.match(text, new RegExp(`  member +Tue 1 Dec 01:\\d\\d +${serial.slice(0, 17)}`));
    await admin.press("j", "enter");
    await admin.until(new RegExp(`Serial +${serial}`));
    await admin.until(/Root +no/);
    await admin.press("esc");
    world.clock.advance(13 * 3_600_000);
    await admin.press("ctrl-r", "enter");
    await admin.until("(over)");
  });
});

Deno.test("people says the reason when it is not known who is on, keeps the certificates, and looks again by ctrl-r", async () => {
  let sessions: unknown[] | null = null;
  const intercept = (request: Request) => sessions === null ? null : connected(sessions)(request);
  await withPods(["lab"], { intercept }, async (admin, world, [id]) => {
    await certificateFor(world, id!, "member");
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    await admin.until("Unknown: Could not connect to the pod.");
    await admin.resize(40, 20);
    await admin.until("Unknown: Could not connect to the\n  pod.");
    await admin.resize(80, 24);
    await admin.until(/ member +Tue/);
    sessions = [];
    await admin.press("ctrl-r");
    await admin.until("Nobody is on it.");
  });
});

Deno.test("people says that connections without a shell are open, and that nobody is on a pod that does not run", async () => {
  await withPods(["lab"], { intercept: connected([], { connections: 2 }) }, async (admin, world, [id]) => {
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    await admin.until("Nobody has a shell, but 2 SSH connections are open.");
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    for (let tries = 0; tries < 50 && !admin.text().includes("not running"); tries++) {
      world.clock.advance(2_000);
      await admin.press("ctrl-r");
    }
    await admin.until("Nobody: the pod is not running.");
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("ctrl-r");
    await admin.until("This pod is not in the list any more");
    assert(!admin.offered().some((one) => one.startsWith("a ")));
  });
});

Deno.test("people shows a refusal beside what it knows, filters both lists, and is fine with a hundred rows in 40x12", async () => {
  const many = Array.from(
    { length: 120 },
    (_, at) => session(`user-${at}`, `Person ${String(at).padStart(3, "0")}`, String(30_000 + at), at % 7 === 0, at),
  );
  let isRefusing = false;
  const known = connected(many);
  const intercept = (request: Request) =>
    isRefusing && /\/members(\/connected)?$/.test(request.url)
      ? refusal(503, "Discord is not available; try again shortly", "discord_unavailable")
      : known(request);
  await withPods(["lab"], { intercept, columns: 40, rows: 12 }, async (admin) => {
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    await admin.until("[Connected now 120]");
    await admin.press("G");
    await admin.until(/> Person 119/);
    await admin.press("/");
    await admin.type("042");
    await admin.until(/> Person 042/);
    await admin.press("enter", "esc");
    isRefusing = true;
    await admin.press("ctrl-r");
    await admin.until("Discord is not available");
    assert.match(admin.text(), /Person/);
    await admin.press("tab");
    await admin.until("tab: Connected now 120");
    await admin.resize(200, 50);
    await admin.until("[Recent certificates");
    await admin.until("Connected now 120");
  });
});

Deno.test("people shows connections without a shell by their certificates, and a pod's clock that is off", async () => {
  const one = session("mo", "Mo Member", PEOPLE.member, false, 100);
  const certificates = [
    { ...one, serial: "1" },
    { ...session("ann", "Ann", PEOPLE.exOfficer, false, 7_300), serial: "2" },
  ];
  const intercept = connected([one], { certificates, clock_offset_seconds: -600 });
  await withPods(["lab"], { intercept, columns: 100 }, async (admin) => {
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    const text = await admin.until("[Connected now 2]");
    assert.match(text, /Ann +2h 01m +no shell +ann/);
    assert.doesNotMatch(text, /Mo Member +1 min +no shell/);
    assert.match(text, /! The pod's clock is 10 min behind the server's\./);
  });
});

Deno.test("a person is disconnected after a question that says what ends, and may come back where a list lets them", async () => {
  await withPods(["lab"], { columns: 100 }, async (admin, world, [id]) => {
    await certificateFor(world, id!, "member");
    await admin.until(/^> lab/m);
    await admin.press("enter", "p", "tab");
    await admin.until(/> member +Tue/);
    await admin.press("x");
    await admin.until("Their connections to lab end");
    await admin.until("They may still enter");
    await admin.press("n");
    assert.deepEqual((await world.call("GET", "/api/compute/org/removals", { as: "officer" })).json.removals, []);
    await admin.press("x", "y");
    await admin.until("member is disconnected");
    await admin.until("! member:");
    await admin.until(/> member +taken back/);
    const { removals } = (await world.call("GET", "/api/compute/org/removals", { as: "officer" })).json;
    assert.deepEqual(removals.map((one: { discord_id: string }) => one.discord_id), [PEOPLE.member]);
    await admin.press("w");
    await admin.until("What the server said");
  });
});

Deno.test("who never had a certificate is disconnected without a removal, and it is said", async () => {
  const intercept = connected([session("exofficer", "exOfficer", PEOPLE.exOfficer, false, 5)]);
  await withPods(["lab"], { intercept, columns: 100 }, async (admin) => {
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    await admin.until(/> exOfficer/);
    await admin.press("x", "y");
    await admin.until("! exOfficer: They never had a certificate for this pod.");
  });
});

Deno.test("a person is blocked on a pod, which is shown, and unblocked again", async () => {
  await withPods(["lab"], { columns: 100 }, async (admin, world, [id]) => {
    await certificateFor(world, id!, "member");
    await admin.until(/^> lab/m);
    await admin.press("enter", "p", "tab");
    await admin.until(/> member +Tue/);
    assert(!admin.offered().includes("u unblock"));
    await admin.press("B");
    await admin.until("They may not enter this pod again");
    await admin.press("y");
    await admin.until("Access: All members, 1 blocked");
    const blocked = async () =>
      (await world.call("GET", "/api/compute/org/blocked", { as: "officer" })).json.blocked
        .filter((one: { pod_id: string | null }) => one.pod_id === id)
        .map((one: { discord_id: string }) => one.discord_id);
    assert.deepEqual(await blocked(), [PEOPLE.member]);
    const body = { public_key: publicLine(generateKeyPair().publicKey, "laptop") };
    const refused = await world.call("POST", `/api/compute/org/me/pods/${id}/connect`, { as: "member", body });
    assert.equal(refused.status, 403);
    await admin.press("u");
    await admin.until("Unblock on lab");
    await admin.press("enter");
    await admin.until("member is not blocked any more");
    assert.deepEqual(await blocked(), []);
  });
});

Deno.test("a refused disconnect is said in the server's words, and who is not known here is not disconnected", async () => {
  const people = connected([session("mo", "Mo Member", PEOPLE.member, false, 5), session("odd", null, null, false, 1)]);
  const intercept = (request: Request) =>
    request.url.endsWith("/disconnect")
      ? refusal(403, "You are not an officer of this organization", "not_an_officer")
      : people(request);
  await withPods(["lab"], { intercept }, async (admin) => {
    await admin.until(/^> lab/m);
    await admin.press("enter", "p");
    await admin.until(/> Mo Member/);
    await admin.press("x", "y");
    await admin.until("You are not an officer of this organization");
    await admin.press("j");
    await admin.until(/> not known/);
    assert(!admin.offered().includes("x disconnect"));
  });
});
