import assert from "node:assert/strict";
import { Refusal } from "../../admin/client/refusal.ts";
import { pastSpan } from "../../admin/ui/data/sessions.ts";
import { sessionsScreen } from "../../admin/ui/screens/sessions.ts";
import { calendarTime, localTime } from "../../admin/ui/text/units.ts";
import { DAY, HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import type { FakeAdminOptions } from "../support/fake_admin.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { createRunningPod, eventually, type World } from "../support/world.ts";
import { refusal, withPods, withWorld } from "./support.ts";

const OF_ORG: FakeAdminOptions = { first: { screen: sessionsScreen, params: { pod: null } } };

// deno-lint-ignore no-explicit-any
type Loose = any;

/** Adds a session; times in milliseconds from now. */
async function add(world: World, id: string, from: number, to: number, more: Record<string, unknown> = {}) {
  const now = world.clock.now();
  const body = { start_at: isoTime(now + from), stop_at: isoTime(now + to), ...more };
  const made = await world.call("POST", `/api/compute/org/pods/${id}/sessions`, { as: "officer", body });
  assert.equal(made.status, 201, made.text);
  return made.json.session.id as number;
}

async function sessionsOf(world: World, id: string): Promise<Loose[]> {
  return (await world.call("GET", `/api/compute/org/pods/${id}/sessions`, { as: "officer" })).json.sessions;
}

const setRow = (world: World, id: number, set: string, ...values: (string | number | null)[]) =>
  world.db.run(`update compute_sessions set ${set} where id = ?`, ...values, id);

Deno.test("sessions lists what is to come and what was, with states, reasons and local times", async () => {
  await withPods(["workshop", "lab"], { ...OF_ORG, columns: 200, rows: 40 }, async (admin, world, [workshop, lab]) => {
    await add(world, workshop!, 3 * HOUR, 5 * HOUR, { title: "Tonight" });
    await add(world, lab!, 7 * DAY, 7 * DAY + 10 * HOUR, { title: "Next week", over_budget: true });
    const failing = await add(world, lab!, HOUR, 2 * HOUR, { title: "No luck yet" });
    setRow(world, failing, "error = ?, error_at = ?, failing_since = ?", "RunPod has no free GPU", 1, 1);
    for (const [title, state] of [["Went well", "done"], ["Slept in", "missed"], ["Broke", "failed"]] as const) {
      const id = await add(world, workshop!, 20 * HOUR, 21 * HOUR, { title });
      const at = world.clock.now() - 3 * HOUR;
      setRow(world, id, "start_at = ?, stop_at = ?, finished = 1, state = ?", at, at + HOUR, state);
      if (state === "failed") {
        setRow(world, id, "error = ?, error_at = ?", "The budget is spent at 2026-11-30T10:00:00Z", 1);
      }
    }
    await admin.press("ctrl-r");
    const text = await admin.until("Tonight");
    assert.match(text, /Sessions 3/);
    assert.match(text, /Time zone Europe\/Berlin/);
    assert.match(text, /today 16:\d\d +18:\d\d +○ Scheduled +workshop +Tonight/);
    assert.match(text, /Mon 7 Dec 13:\d\d +23:\d\d +○ Scheduled +lab +Next week .*over/);
    assert.match(text, /! Scheduled +lab +No luck yet.*RunPod has no free GPU/);
    assert.match(text, /What to do +The start is tried again at every turn until .* GMT\+1/);
    assert(!text.includes("Went well"));
    await admin.press("p");
    const past = await admin.until("Past sessions 3");
    assert.match(past, /✓ Done +workshop +Went well/);
    assert.match(past, /! Missed +workshop +Slept in/);
    assert.match(past, /! Failed +workshop +Broke/);
    await admin.press("o");
    await admin.press("/");
    await admin.type("broke");
    await admin.press("enter");
    const broke = await admin.until("What to do");
    assert.match(broke, /Past sessions 1 of 3/);
    assert.match(broke, /Why +The budget is spent at Mon 2026-11-30 11:00 GMT\+1/);
    assert(!admin.offered().some((one) => /^[cdeD] /.test(one)), "what is over is not changed");
    await admin.press("esc", "left");
    await admin.until("No session ended in that time");
    assert(admin.offered().includes("→ later"));
    await admin.press("right");
    await admin.until("Slept in");
    assert(!admin.offered().includes("→ later"));
    await admin.press("u");
    await admin.until("Tonight");
  });
});

Deno.test("a session is proposed for the hour after the next one when that begins in some minutes", async () => {
  await withPods(["workshop"], OF_ORG, async (admin, world) => {
    await admin.until("There are no sessions to come");
    const hour = 3_600_000;
    world.clock.advance(hour - world.clock.now() % hour - 10 * 60_000);
    await admin.press("a");
    await admin.until("> workshop");
    await admin.press("enter");
    assert.match(await admin.until("New session of workshop"), /Start +2026-11-30 15:00/);
  });
});

Deno.test("a session is proposed for the next full hour, two hours long, and added to a pod that is chosen", async () => {
  await withPods(["workshop", "lab"], OF_ORG, async (admin, world, [, lab]) => {
    await admin.until("There are no sessions to come");
    await admin.press("a");
    await admin.until("> workshop");
    await admin.type("lab");
    await admin.until("> lab");
    await admin.press("enter");
    const form = await admin.until("New session of lab");
    assert.match(form, /Start +2026-11-30 14:00/);
    assert.match(form, /Stop +16:00/);
    assert.match(form, /Mon 2026-11-30 14:00 GMT\+1 to Mon 2026-11-30 16:00 GMT\+1 \(Europe\/Berlin\)/);
    assert.match(form, /About \$0\.\d\d for 2 hours/);
    await admin.type("日本語 evening");
    await admin.press("ctrl-s");
    await admin.until("The session is added: today 14:00 to 16:00");
    const [session] = await sessionsOf(world, lab!);
    assert.equal(session.start_at, "2026-11-30T13:00:00+00:00");
    assert.equal(session.stop_at, "2026-11-30T15:00:00+00:00");
    assert.equal(session.title, "日本語 evening");
    assert.match(await admin.until(/○ Scheduled/), /日本語 evening/);
  });
});

Deno.test("a weekly series until a day is added and what is left of it deleted, from the pod's own calendar", async () => {
  await withPods(["workshop"], { rows: 30 }, async (admin, world, [id]) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("c");
    await admin.until("There are no sessions to come");
    await admin.press("a");
    await admin.until("New session of workshop");
    await admin.type("Thursdays");
    await admin.press("tab", "ctrl-u");
    await admin.type("2026-12-03 18:00");
    await admin.press("tab", "ctrl-u");
    await admin.type("20:00");
    await admin.press("tab", "left");
    await admin.until("Until");
    await admin.press("tab", "tab");
    await admin.type("2026-12-24");
    await admin.until("4 sessions, the last one Thu 2026-12-24 18:00");
    await admin.press("ctrl-s");
    await admin.until("4 sessions are added");
    assert.equal(new Set((await sessionsOf(world, id!)).map(({ series_id }) => series_id)).size, 1);
    await admin.until("one of a series; 4 from this one on");
    await admin.press("j", "D");
    await admin.until(/3 sessions of workshop go, from Thu 10 Dec 18:00 to 20:00 on/);
    assert.match(admin.text(), /one is Thu 24 Dec 18:00 to 20:00/);
    await admin.press("n");
    assert.equal((await sessionsOf(world, id!)).length, 4);
    await admin.press("D");
    await admin.until("sessions of workshop go");
    await admin.press("y");
    await admin.until("3 sessions are deleted");
    assert.deepEqual((await sessionsOf(world, id!)).map(({ start_at }) => start_at), ["2026-12-03T17:00:00+00:00"]);
    await admin.until("Sessions 1");
    await admin.press("d");
    await admin.until("Press y to delete it");
    assert.doesNotMatch(admin.text(), /It has started/);
    await admin.press("y");
    await admin.until("The session is deleted");
    assert.deepEqual(await sessionsOf(world, id!), []);
  });
});

Deno.test("a session that has started is extended, and deleting it warns that the pod stops and what is lost", async () => {
  await withPods(["workshop"], OF_ORG, async (admin, world, [id]) => {
    const session = await add(world, id!, MINUTE, HOUR, { title: "Now" });
    world.clock.advance(90_000);
    await world.app.jobs.schedule.turn();
    await admin.press("ctrl-r");
    await admin.until("● Running");
    await admin.press("e");
    await admin.until("120 of 120 minutes are left");
    await admin.press("ctrl-u");
    await admin.type("121");
    await admin.until("! Minutes must be a whole number from 1 to 120");
    await admin.press("ctrl-u");
    await admin.type("45");
    await admin.press("ctrl-s");
    await admin.until("The stop is put off");
    await admin.until("45 of 120 minutes");
    await admin.press("d");
    await admin.until("It has started: the pod stops");
    await admin.until("EVERY file on it is lost");
    await admin.press("n");
    assert.equal((await sessionsOf(world, id!))[0].finished, false);
    await admin.press("d");
    await admin.until("Press y");
    await admin.press("y");
    await admin.until("The session ends now");
    const [ended] = await sessionsOf(world, id!);
    assert.equal(ended.id, session);
    assert(Date.parse(ended.stop_at) <= world.clock.now());
  });
});

Deno.test("an extension whose answer was lost is seen in the form before it is sent again", async () => {
  let world: World | undefined;
  const intercept = async (request: Request) => {
    if (!request.url.endsWith("/extend")) return null;
    await world!.app.fetch(request, { isOperator: true, account: "test", address: "192.0.2.9" });
    throw new Refusal("The server went away before it answered; whether the request was carried out is not known", 6);
  };
  await withPods(["workshop"], { ...OF_ORG, intercept }, async (admin, made, [id]) => {
    world = made;
    await add(made, id!, MINUTE, HOUR, { title: "Now" });
    made.clock.advance(90_000);
    await made.app.jobs.schedule.turn();
    await admin.press("ctrl-r");
    await admin.until("● Running");
    await admin.press("e");
    await admin.until("120 of 120 minutes are left");
    await admin.press("ctrl-s");
    await admin.until("is not known");
    const { stop_at } = (await sessionsOf(made, id!))[0];
    await admin.until(`! Its stop was put off meanwhile, to ${localTime(stop_at, "Europe/Berlin", made.clock.now())}`);
  });
});

Deno.test("the question before a session is deleted says so when it begins meanwhile", async () => {
  await withPods(["workshop"], OF_ORG, async (admin, world, [id]) => {
    await add(world, id!, MINUTE, HOUR, { title: "Soon" });
    await admin.press("ctrl-r");
    await admin.until("Soon");
    await admin.press("d");
    await admin.until("Press y to delete it");
    assert.doesNotMatch(admin.text(), /It has started/);
    world.clock.advance(90_000);
    await world.app.jobs.schedule.turn();
    await admin.press("ctrl-r");
    await admin.until("It has started: the pod stops");
    await admin.until("EVERY file on it is lost");
  });
});

Deno.test("a session is changed from its own screen, and only what is different is sent", async () => {
  const sent: Loose[] = [];
  const intercept = (request: Request) => {
    if (request.method === "PUT") request.clone().json().then((body) => sent.push(body));
    return null;
  };
  await withPods(["workshop"], { ...OF_ORG, intercept }, async (admin, world, [id]) => {
    await add(world, id!, DAY, DAY + 2 * HOUR, { title: "Evening" });
    await admin.press("ctrl-r");
    await admin.until("Evening");
    await admin.press("enter");
    await admin.until("Number");
    await admin.press("c");
    await admin.until("Change Evening");
    await admin.press("ctrl-s");
    await admin.until("Nothing is different yet");
    await admin.press("tab", "tab", "tab", "tab");
    await admin.until(/> Budget spent/);
    await admin.press("right");
    await admin.press("tab", "right");
    await admin.press("ctrl-s");
    await admin.until("The session is changed");
    assert.deepEqual(sent, [{ over_budget: true, on_gpu_taken: "fresh_pod" }]);
    const [session] = await sessionsOf(world, id!);
    assert.deepEqual([session.over_budget, session.on_gpu_taken], [true, "fresh_pod"]);
    await admin.until("starts even when the month's is spent");
    await admin.until("a fresh pod takes its place");
  });
});

Deno.test("a form says that another officer changed or deleted the session meanwhile, and keeps what was typed", async () => {
  await withPods(["workshop"], OF_ORG, async (admin, world, [id]) => {
    const session = await add(world, id!, DAY, DAY + 2 * HOUR, { title: "Evening" });
    const path = `/api/compute/org/pods/${id}/sessions/${session}`;
    await admin.press("ctrl-r");
    await admin.until("Evening");
    await admin.press("c");
    await admin.until("Change Evening");
    await admin.type("s of reading");
    await world.call("PUT", path, { as: "officer", body: { title: "Afternoon" } });
    await admin.press("ctrl-r");
    await admin.until(/Somebody changed it meanwhile: .*, Afternoon/);
    await world.call("DELETE", path, { as: "officer" });
    await admin.press("ctrl-s");
    await admin.until("! Session not found");
    assert.match(admin.text(), /Evenings of reading/);
    await admin.press("ctrl-r");
    await admin.until("It was deleted meanwhile");
    await admin.press("esc");
    await admin.until("What you typed is lost");
    await admin.press("y");
    await admin.until("There are no sessions to come");
  });
});

Deno.test("a refused session is said in the server's words at its field, and what was typed stays", async () => {
  let answer: Response | null = refusal(400, "A pod can have at most 100 upcoming sessions", "invalid_request");
  const intercept = (request: Request) => {
    if (request.method !== "POST" || answer === null) return null;
    const given = answer;
    answer = null;
    return given;
  };
  await withPods(["workshop"], { ...OF_ORG, intercept }, async (admin, world, [id]) => {
    await admin.until("There are no sessions");
    await admin.press("a");
    await admin.until("> workshop");
    await admin.press("enter");
    await admin.until("New session of workshop");
    await admin.type("Evening");
    await admin.press("tab", "ctrl-u");
    await admin.type("2026-11-31 18:00");
    await admin.until("There is no such day: 2026-11-31");
    await admin.press("ctrl-s");
    assert.deepEqual(await sessionsOf(world, id!), []);
    await admin.press("ctrl-u");
    await admin.type("2026-12-31 18:00");
    await admin.press("ctrl-s");
    await admin.until("! A pod can have at most 100 upcoming sessions");
    assert.match(admin.text(), /Evening/);
    answer = refusal(403, "You are not an officer of this organization", "not_an_officer");
    await admin.press("ctrl-s");
    await admin.until("! You are not an officer");
    answer = refusal(409, "RunPod no longer has this pod", "conflict");
    await admin.press("ctrl-s");
    await admin.until("! RunPod no longer has this pod");
    answer = new Response("<h1>Bad gateway</h1>", { status: 502 });
    await admin.press("ctrl-s");
    await admin.until(/! .*502/);
    assert.match(admin.text(), /2026-12-31 18:00/);
    answer = Response.json({ error: "Too many requests", code: "too_many_requests" }, {
      status: 429,
      headers: { "retry-after": "0" },
    });
    await eventually(() => admin.admin.state.layers.at(-1)!.screen.id === "form", "the form is still there");
    await admin.press("ctrl-s");
    await admin.until("The session is added");
    assert.equal((await sessionsOf(world, id!)).length, 1);
  });
});

Deno.test("a series whose hours the clocks skip is added with the server's warning", async () => {
  await withPods(["workshop"], OF_ORG, async (admin, world, [id]) => {
    await admin.until("There are no sessions");
    await admin.press("a");
    await admin.until("> workshop");
    await admin.press("enter");
    await admin.until("New session of workshop");
    await admin.press("tab", "ctrl-u");
    await admin.type("2027-03-21 02:30");
    await admin.press("tab", "ctrl-u");
    await admin.type("04:00");
    await admin.press("tab", "right");
    await admin.press("tab", "tab", "ctrl-u");
    await admin.type("2");
    await admin.until("The clocks of Europe/Berlin skip 02:30");
    await admin.press("ctrl-s");
    await admin.until("2 sessions are added. The clocks of Europe/Berlin skip");
    assert.equal((await sessionsOf(world, id!)).length, 2);
  });
});

Deno.test("1,200 sessions are all listed, moved through, and drawn in every window", async () => {
  await withWorld(async (world) => {
    const id = await createRunningPod(world, { name: "x".repeat(40) });
    const pod = world.db.get<{ id: string }>("select id from compute_pods where runpod_id = ?", id)!.id;
    world.db.tx(() => {
      for (let n = 0; n < 1_200; n++) {
        const at = world.clock.now() + n * HOUR;
        world.db.run(
          "insert into compute_sessions (org_id, pod_id, title, start_at, stop_at, created_at) values (1, ?, ?, ?, ?, 0)",
          pod,
          n % 3 === 0 ? null : n % 3 === 1 ? `第${n}回`.repeat(20) : `\u202eevil \x1b[31m${n}`,
          at,
          at + HOUR,
        );
      }
    });
    await withAdmin(world, OF_ORG, async (admin) => {
      await admin.until("Sessions 1200");
      await admin.press("G");
      await admin.until(/^> .*19 Jan 1[12]:/m);
      for (const [columns, rows] of [[40, 12], [200, 50], [80, 24], [43, 13], [400, 100]] as const) {
        await admin.resize(columns, rows);
        await admin.until(/^> /m);
        await admin.press("k");
      }
      await admin.resize(80, 24);
      await admin.press("g", "j", "j");
      await admin.until("\\u{202e}");
      assert.match(admin.text(), /\\u\{202e\}evil/);
      await admin.press("enter");
      await admin.until("Number");
    });
  });
});

Deno.test("sessions say that the schedule is paused or does not run, and what the server refuses", async () => {
  const paused = { running: true, paused: "The database was copied", last_run: null };
  let isRefusing = false;
  const intercept = (request: Request) =>
    request.url.endsWith("/schedule")
      ? Response.json(paused)
      : isRefusing && request.url.includes("/sessions")
      ? refusal(500, "The server had a problem of its own", "internal")
      : null;
  await withPods(["workshop"], { ...OF_ORG, intercept }, async (admin, world, [id]) => {
    await add(world, id!, DAY, DAY + HOUR, { title: "Evening" });
    await admin.until("! The schedule is paused: The database was copied");
    await admin.press("ctrl-r");
    await admin.until("Evening");
    isRefusing = true;
    await admin.press("ctrl-r");
    await admin.until("The server had a problem of its own");
    assert.match(admin.text(), /Evening/);
  });
  await withPods(["workshop"], OF_ORG, async (admin) => {
    await admin.until("Nothing starts or stops pods now");
  });
});

Deno.test("the calendar of a pod that was terminated meanwhile says what the server says", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    await add(world, id!, DAY, DAY + HOUR, { title: "Evening" });
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("c");
    await admin.until("Evening");
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("d", "y");
    await admin.until(/! .*[Pp]od not found/);
    await admin.press("esc");
    await admin.until("This pod is not in the list any more");
    assert(!admin.offered().some((one) => one.startsWith("c ")));
  });
});

Deno.test("calendarTime says today, the weekday, and the year only far away; in the zone it is given", () => {
  const now = Date.UTC(2026, 11, 30, 23, 30);
  const cases = [
    ["2026-12-30T22:59:00Z", "Europe/Berlin", "Wed 30 Dec 23:59"],
    ["2026-12-30T23:00:00Z", "Europe/Berlin", "today 00:00"],
    ["2026-12-30T23:00:00Z", "America/Phoenix", "today 16:00"],
    ["2027-01-04T17:00:00Z", "Europe/Berlin", "Mon 4 Jan 18:00"],
    ["2027-12-31T11:00:00Z", "Europe/Berlin", "31 Dec 2027 12:00"],
    ["2025-12-31T11:00:00Z", "Europe/Berlin", "31 Dec 2025 12:00"],
  ] as const;
  for (const [iso, zone, text] of cases) assert.equal(calendarTime(iso, zone, now), text);
});

Deno.test("pastSpan leaves no gap between its pages, and ends after now", () => {
  const now = Date.UTC(2026, 10, 30, 12);
  const spans = [0, 1, 2].map((page) => pastSpan(page, now));
  assert(spans[0]!.to > now && spans[0]!.to <= now + DAY);
  assert.deepEqual([spans[0]!.from, spans[1]!.from], [spans[1]!.to, spans[2]!.to]);
});
