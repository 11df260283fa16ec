import assert from "node:assert/strict";
import { apiTime, wallTime } from "../../admin/commands/session_times.ts";
import { DAY, MINUTE } from "../../server/clock.ts";
import { type Bench, withOrg } from "./bench.ts";

const PHOENIX = ["--time-zone", "America/Phoenix"];
const BERLIN = { env: { TZ: "Europe/Berlin" } };
const EVENING = ["--start", "2098-09-04 18:00", "--stop", "2098-09-04 20:00"];

const newPod = (bench: Bench) => bench.must(["pod", "create", "--cpu", "--name", "lab-1"]);
const sessionsOf = async (bench: Bench, pod: string) =>
  JSON.parse(await bench.must(["session", "list", pod, "--json"])).sessions;

Deno.test("session add converts local times, says what it understood, and prints the numbers alone", async () => {
  await withOrg(async (bench) => {
    const pod = await newPod(bench);
    const one = await bench.orgpods(["session", "add", pod, ...EVENING, ...PHOENIX, "--title", "Demo\u202e night"]);
    assert.equal(one.code, 2, one.stderr);
    assert.match(one.stderr, /title must be one line/);
    const series = ["--weekly", "1", "--count", "2", "--title", "Demo night", "--over-budget"];
    const made = await bench.orgpods(["session", "add", pod, ...EVENING, ...PHOENIX, ...series]);
    assert.equal(made.code, 0, made.stderr);
    const [first, second] = made.stdout.trim().split("\n");
    assert.equal(
      made.stderr,
      `Session ${first} (Demo night) of lab-1: Thu 2098-09-04 18:00 MST to Thu 2098-09-04 20:00 MST, America/Phoenix.\n` +
        `Session ${second} (Demo night) of lab-1: Thu 2098-09-11 18:00 MST to Thu 2098-09-11 20:00 MST, ` +
        "America/Phoenix.\n",
    );
    const stored = await sessionsOf(bench, pod);
    assert.deepEqual(stored.map((one: Record<string, unknown>) => [one.id, one.start_at, one.over_budget]), [
      [Number(first), "2098-09-05T01:00:00+00:00", true],
      [Number(second), "2098-09-12T01:00:00+00:00", true],
    ]);
    const list = await bench.orgpods(["session", "list"], BERLIN);
    assert.match(list.stdout, /^ID +POD +NAME +START +STOP +STATE +SERIES +TITLE +ERROR$/m);
    const row =
      `^${first} +${pod} +lab-1 +Fri 2098-09-05 03:00 GMT\\+2 +Fri 2098-09-05 05:00 GMT\\+2 +scheduled +[0-9a-f]{6} +Demo night +-$`;
    assert.match(list.stdout, new RegExp(row, "m"));
    const last = await bench.orgpods(["session", "list", pod, ...PHOENIX, "--limit", "1"]);
    assert.match(last.stdout, /Thu 2098-09-11 18:00 MST/);
    assert(!last.stdout.includes("2098-09-04"));
    assert.match(last.stderr, new RegExp(`^These are the last 1, by start; earlier ones: --before ${second}$`, "m"));
    const next = await bench.orgpods(["session", "list", ...PHOENIX, "--limit", "1"]);
    assert.match(next.stdout, /Thu 2098-09-04 18:00 MST/);
    assert.match(
      next.stderr,
      /^These are the first 1, by start; later ones: --from 2098-09-04T18:00-07:00$/m,
    );
    const until = async (to: string) =>
      JSON.parse(await bench.must(["session", "list", "--to", to, ...PHOENIX, "--json"])).sessions.length;
    assert.deepEqual([await until("2098-09"), await until("2098-09-05"), await until("2098-10")], [0, 1, 2]);
  });
});

Deno.test("session add warns of times that are there already, that the clocks skip, and of a zone without summer time", async () => {
  await withOrg(async (bench) => {
    const pod = await newPod(bench);
    const first = await bench.must(["session", "add", pod, ...EVENING, ...PHOENIX]);
    const again = await bench.orgpods(["session", "add", pod, ...EVENING, ...PHOENIX]);
    assert.equal(again.code, 0);
    assert.match(
      again.stderr,
      new RegExp(`^warning: The pod has a session at these times already: session ${first}$`, "m"),
    );
    // On 2098-03-09 the clocks of New York go from 02:00 to 03:00.
    const night = ["--start", "2098-03-09 02:30", "--stop", "2098-03-09 05:00", "--time-zone"];
    const gap = await bench.orgpods(["session", "add", pod, ...night, "America/New_York"]);
    assert.match(
      gap.stderr,
      /^warning: --start: The clocks of America\/New_York skip 02:30 on 2098-03-09: 03:00 is taken in its place$/m,
    );
    assert.match(gap.stderr, /: Sun 2098-03-09 03:00 EDT to Sun 2098-03-09 05:00 EDT, America\/New_York\.$/m);
    const fixed = await bench.orgpods(["session", "add", pod, ...night, "EST"]);
    assert.equal(fixed.stderr.match(/^warning: EST has no summer time; use America\/New_York$/gm)?.length, 1);
    const series = await bench.orgpods(["session", "add", pod, ...night, "EST", "--weekly", "1", "--count", "2"]);
    assert.equal(series.stderr.match(/^warning: EST has no summer time; use America\/New_York$/gm)?.length, 1);
  });
});

Deno.test("session remove --series takes the rest of a series away, and what cannot be is said in words of the command line", async () => {
  await withOrg(async (bench) => {
    const pod = await newPod(bench);
    const weekly = ["--weekly", "1", "--count", "3"];
    const ids = (await bench.must(["session", "add", pod, ...EVENING, ...PHOENIX, ...weekly])).split("\n");
    const single = await bench.must(["session", "add", pod, ...EVENING, ...PHOENIX]);
    assert.equal(await bench.must(["session", "remove", pod, ids[1]!, "--series"]), `${ids[1]}\n${ids[2]}`);
    assert.deepEqual((await sessionsOf(bench, pod)).map((one: { id: number }) => String(one.id)), [ids[0], single]);
    const refusals: [string[], number, RegExp][] = [
      [["remove", pod, single, "--series"], 5, /is not one of a series/],
      [["remove", pod, "999"], 3, /^hint: The pod lab-1 has no session 999; numbers are in session list$/m],
      [["list", "nosuch"], 3, /^hint: There is no pod nosuch in this organization; ids are in pod list$/m],
      [
        ["extend", pod, single, "--minutes", "5"],
        5,
        /change its --stop instead\nhint: orgpods session edit \S+ \d+ --stop/,
      ],
      [["add", pod, "--start", "2098-09-04T18:00Z", "--stop", "2098-09-04T17:00Z"], 2, /--stop must be after --start/],
    ];
    for (const [args, code, sentence] of refusals) {
      const done = await bench.orgpods(["session", ...args]);
      assert.equal(done.code, code, done.stderr);
      assert.match(done.stderr, sentence);
    }
  });
});

Deno.test("session edit, extend and remove change one session", async () => {
  await withOrg(async (bench) => {
    const pod = await newPod(bench);
    const at = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString();
    const open = await bench.must(["session", "add", pod, "--start", at(-30), "--stop", at(90)]);
    const later = await bench.must(["session", "add", pod, ...EVENING, ...PHOENIX, "--title", "Demo", "--over-budget"]);
    const changes = [
      "--title",
      "",
      "--stop",
      "2098-09-04T21:00-07:00",
      "--no-over-budget",
      "--on-gpu-taken",
      "fresh_pod",
    ];
    const edited = await bench.orgpods(["session", "edit", pod, later, ...changes], { env: { TZ: "UTC" } });
    assert.equal(edited.stdout, `${later}\n`);
    assert.match(edited.stderr, /^Session \d+ of lab-1: Fri 2098-09-05 01:00 UTC to Fri 2098-09-05 04:00 UTC\.$/m);
    const find = async (id: string) =>
      (await sessionsOf(bench, pod)).find((one: { id: number }) => String(one.id) === id);
    const { title, stop_at, over_budget, on_gpu_taken } = await find(later);
    assert.deepEqual([title, stop_at, over_budget, on_gpu_taken], [
      null,
      "2098-09-05T04:00:00+00:00",
      false,
      "fresh_pod",
    ]);
    assert.equal(await bench.must(["session", "extend", pod, open, "--minutes", "100"]), open);
    assert.equal((await find(open)).extended_minutes, 100);
    const over = await bench.orgpods(["session", "extend", pod, open, "--minutes", "30"]);
    assert.equal(over.code, 5);
    assert.match(over.stderr, /: 20 are left$/m);
    assert.equal(await bench.must(["session", "remove", pod, later]), later);
    const again = await bench.orgpods(["session", "remove", pod, later]);
    assert.equal(again.code, 3);
    assert.equal(await find(later), undefined);
  });
});

Deno.test("session commands refuse what they cannot be sure of, before anything is sent", async () => {
  await withOrg(async (bench) => {
    const pod = "k7x2m9";
    const offset = ["--start", "2098-09-04T18:00-07:00", "--stop", "2098-09-04T20:00-07:00"];
    const wrong: [string[], RegExp][] = [
      [["add", pod, ...EVENING, "--weekly", "1", "--count", "3"], /A series needs --weekly, --count and --time-zone/],
      [["add", pod, ...EVENING, "--time-zone", "Mars/Base"], /--time-zone is not the name of a time zone.*Mars\/Base/],
      [["add", pod, "--start", "friday", "--stop", "x"], /--start must be a time such as .*: friday/],
      [["add", pod, ...offset, "--weekly", "1", "--count", "3"], /A series needs --weekly, --count and --time-zone/],
      [["add", pod, ...offset, "--count", "3", ...PHOENIX], /A series needs/],
      [["add", pod, ...offset, "--on-gpu-taken", "buy"], /Allowed choices are wait, fresh_pod/],
      [["add", pod, "--start", "2098-09-04T18:00Z"], /required option '--stop <time>' not specified/],
      [["edit", pod, "1"], /Name what to change/],
      [["extend", pod, "1", "--minutes", "121"], /whole number from 1 to 120/],
      [["list", pod, "--state", "done"], /are for the whole organization/],
      [["list", "--before", "3"], /--before is for one pod/],
      [["remove", "../x", "1"], /The pod's id must be/],
      [["extend", pod, "abc", "--minutes", "5"], /<session> must be the number of a session, .*: abc$/m],
      [
        ["add", pod, "--start", "2027-02-30 18:00", "--stop", "x", ...PHOENIX],
        /--start: There is no such day: 2027-02-30/,
      ],
    ];
    for (const [args, sentence] of wrong) {
      const done = await bench.orgpods(["session", ...args]);
      assert.equal(done.code, 2, `${args.join(" ")}: ${done.stderr}`);
      assert.equal(done.stdout, "");
      assert.match(done.stderr, sentence);
    }
    assert.equal((await bench.orgpods(["session", "list", pod])).code, 3);
    const none = await bench.orgpods(["session", "list"]);
    assert.deepEqual([none.stdout, none.stderr], ["", "No sessions.\n"]);
  });
});

Deno.test("apiTime takes an offset as it is, and anything else on the wall of the zone", async () => {
  // In Berlin it is Thursday, 23:30.
  const now = Date.parse("2026-09-03T21:30:00Z");
  const at = (text: string, after = now) => apiTime("--start", text, "Europe/Berlin", { now, after });
  const read: [string, string][] = [
    ["2026-09-03T18:00-07:00", "2026-09-04T01:00:00.000Z"],
    ["2026-09-03 18:00Z", "2026-09-03T18:00:00.000Z"],
    ["2026-09-03T18:00", "2026-09-03T16:00:00.000Z"],
    ["today 23:45", "2026-09-03T21:45:00.000Z"],
    ["Tomorrow 9:00", "2026-09-04T07:00:00.000Z"],
    ["23:45", "2026-09-03T21:45:00.000Z"],
    ["23:30", "2026-09-04T21:30:00.000Z"],
    ["9:00", "2026-09-04T07:00:00.000Z"],
    // 02:30 does not exist on that day: the first moment after the gap.
    ["2026-03-29 02:30", "2026-03-29T01:00:00.000Z"],
    // The clocks show 02:30 twice on that day: the first time.
    ["2026-10-25 02:30", "2026-10-25T00:30:00.000Z"],
  ];
  for (const [text, iso] of read) assert.equal(await at(text), iso, text);
  assert.equal(await at("20:00", Date.parse("2026-12-24T17:00:00Z")), "2026-12-24T19:00:00.000Z");
  for (const text of ["2026-02-30 18:00", "2026-09-03", "25:00", "tomorrow", "tomorrow 18", "6pm", ""]) {
    await assert.rejects(at(text), { code: "usage" }, text);
  }
  await assert.rejects(at("25:00"), {
    message: '--start must be a time such as 18:00, "tomorrow 18:00", "2026-09-03 18:00" or ' +
      "2026-09-03T18:00-07:00: 25:00",
  });
});

Deno.test("session add and edit take the words of the admin's form, in this machine's zone, and say the moment", async () => {
  await withOrg(async (bench) => {
    const pod = await newPod(bench);
    const words = ["--start", "tomorrow 22:00", "--stop", "1:30"];
    const days = () => [1, 2].map((days) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10));
    const before = days();
    const made = await bench.orgpods(["session", "add", pod, ...words], { env: { TZ: "UTC" } });
    assert.equal(made.code, 0, made.stderr);
    // Midnight may pass while the command runs.
    const sentences = [before, days()].map(([first, second]) => `${first} 22:00 UTC to ${second} 01:30 UTC`);
    const said = made.stderr.replaceAll(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun) /g, "");
    assert(sentences.some((sentence) => said.includes(sentence)), made.stderr);
    const id = made.stdout.trim();
    const spanOf = async () => {
      const [{ start_at, stop_at }] = await sessionsOf(bench, pod);
      return (Date.parse(stop_at) - Date.parse(start_at)) / MINUTE;
    };
    assert.equal(await spanOf(), 210);
    // A stop alone is counted from the start that stays, not from now.
    const edited = await bench.orgpods(["session", "edit", pod, id, "--stop", "23:00", "--json"], {
      env: { TZ: "UTC" },
    });
    assert.equal(edited.code, 0, edited.stderr);
    assert.equal(JSON.parse(edited.stdout).session.id, Number(id));
    assert.match(edited.stderr, / 22:00 UTC to .* 23:00 UTC\.$/m);
    assert.equal(await spanOf(), 60);
    const berlin = await bench.orgpods(["session", "add", pod, ...EVENING], BERLIN);
    assert.match(
      berlin.stderr,
      /: Thu 2098-09-04 18:00 GMT\+2 to Thu 2098-09-04 20:00 GMT\+2, Europe\/Berlin\.$/m,
    );
    const list = await bench.orgpods(["session", "list", "--from", "2098-09-04 19:00", "--json"], BERLIN);
    assert.equal(list.stderr, "--from: Thu 2098-09-04 19:00 GMT+2\n");
    assert.equal(JSON.parse(list.stdout).sessions[0].start_at, "2098-09-04T16:00:00+00:00");
  });
});

Deno.test("wallTime shows a time on the wall of a zone, midnight as 00:00", () => {
  assert.equal(wallTime("2026-09-04T07:00:00+00:00", "America/Phoenix"), "Fri 2026-09-04 00:00 MST");
  assert.equal(wallTime("2026-01-15T18:30:00+00:00", "America/New_York"), "Thu 2026-01-15 13:30 EST");
});
