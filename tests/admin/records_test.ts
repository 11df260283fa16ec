import assert from "node:assert/strict";
import { insertEvent } from "../../db/stores/events.ts";
import { insertAudit } from "../../db/stores/audit.ts";
import { eventually } from "../support/world.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { refusal, run, type TestWorld, withPods, withWorld } from "./support.ts";

const HOSTILE = "evil\x1b[2J\u202e\u0007name\n\u{1f468}\u200d\u{1f469}界界界";

function raiseMany(world: TestWorld, count: number, subject = "old"): void {
  for (let at = 0; at < count; at++) {
    insertEvent(
      world.db,
      { orgId: 1, kind: "pod.started", subject: `${subject}-${at}`, runpodId: `gone${at % 3}xx`, actor: "olivia" },
      world.clock.now(),
    );
  }
}

Deno.test("events lists what happened, filters by kind, pod and text, and tells all of one", async () => {
  await withPods(["workshop", "other"], { columns: 120 }, async (admin, world, [id]) => {
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    await run(admin, "events", "pod.stopped");
    assert.match(admin.text(), /Events \d+/);
    await admin.press("f");
    await admin.type("created");
    await admin.press("enter");
    await admin.until("Events 2, pod.created");
    await admin.untilGone("pod.stopped");
    await admin.press("p");
    await admin.type("worksh");
    await admin.press("enter");
    await admin.until("Events 1, pod.created, pod workshop");
    await admin.press("enter");
    const details = await admin.until(/Pod id +/);
    assert.match(details, /When +13:00 \(2026-11-30T12:00:\d\d/);
    assert.match(details, /About +workshop/);
    assert.match(details, new RegExp(`Pod id +${id}`));
    assert.match(details, /By +officer/);
    assert.match(details, /cost per hour +0\.06/);
    await admin.press("esc", "p", "enter", "f", "enter");
    await admin.until(/Events \d+$/m);
    await admin.press("/");
    await admin.type("stopped");
    await admin.press("enter");
    await admin.until("Events 1 of");
    await admin.press("esc");
    await admin.press("f");
    await admin.type("balance");
    await admin.press("enter");
    await admin.until("No event is like that.");
  });
});

Deno.test("events loads older ones as one comes to the end, and new ones come in at the top meanwhile", async () => {
  await withWorld(async (world) => {
    raiseMany(world, 450);
    await withAdmin(world, {}, async (admin) => {
      await run(admin, "events", "Events 200");
      assert(admin.offered().includes("m older"));
      await admin.press("G");
      await admin.until(/Events 3\d\d/);
      await admin.press("G");
      await admin.until(/Events 45\d/);
      assert(!admin.offered().includes("m older"));
      await admin.press("G");
      await admin.until(/^> .*settings\.changed/m);
      await admin.press("g");
      raiseMany(world, 1, "fresh");
      await admin.press("ctrl-r");
      await admin.until("fresh-0");
      await admin.press("/");
      await admin.type("old-7");
      await admin.press("enter");
      await admin.until("Events 11 of 452");
    });
  });
});

Deno.test("a filter that fits nothing that is loaded offers older ones", async () => {
  await withWorld(async (world) => {
    raiseMany(world, 1, "needle");
    raiseMany(world, 300);
    await withAdmin(world, { columns: 40, rows: 12 }, async (admin) => {
      await run(admin, "events", "Events 200");
      await admin.press("/");
      await admin.type("needle");
      await admin.press("enter");
      await admin.until("m loads older");
      await admin.press("m");
      await admin.until("Events 1 of 3");
      await admin.press("enter");
      await admin.until(/About +needle-0/);
    });
  });
});

Deno.test("what happened to one pod is found however much has happened since", async () => {
  await withWorld(async (world) => {
    const old = { source: "api", orgPrefix: "org", actorKind: "officer", actorId: "1", status: 200 } as const;
    insertAudit(world.db, { ...old, action: "PUT /long/ago", podId: "longgone1", outcome: "ok" }, world.clock.now());
    insertEvent(world.db, { orgId: 1, kind: "pod.gone", subject: "ago", runpodId: "longgone1" }, world.clock.now());
    for (let at = 0; at < 700; at++) {
      insertAudit(world.db, { ...old, action: `PUT /x/${at}`, outcome: "ok" }, world.clock.now());
    }
    raiseMany(world, 700);
    await withAdmin(world, {}, async (admin) => {
      for (
        const [word, first, found] of [["events", "Events 200", "pod.gone"], ["audit", "Audit 200", "PUT /long/ago"]]
      ) {
        await run(admin, word!, first!);
        await admin.press("p");
        await admin.type("longgone1");
        await admin.press("enter");
        await admin.until(/(Events|Audit) 1, pod longgone1/);
        await admin.until(found!);
      }
    });
  });
});

Deno.test("the events of a pod open from its screen, and stay when the pod is gone", async () => {
  await withPods(["workshop", "other"], {}, async (admin, world, [id]) => {
    await admin.until(/workshop/);
    await admin.press("/");
    await admin.type("workshop");
    await admin.press("enter", "enter");
    await admin.until("Pod id");
    await admin.press("E");
    await admin.until("Events 1, pod workshop");
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("ctrl-r");
    await admin.until(/Events \d, pod workshop/);
    await admin.until("pod.created");
  });
});

Deno.test("audit tells who did what, how it ended and what was refused; by pod, by text, with details", async () => {
  await withPods(["workshop"], { columns: 160, rows: 40 }, async (admin, world, [id]) => {
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    await world.call("PUT", "/api/compute/org/roles", { as: "officer", body: { member_role_ids: [] } });
    await run(admin, "audit", "! not_the_op");
    const text = admin.text();
    assert.match(text, /officer +stop the pod +ok +workshop|officer +stop the pod +workshop +ok/);
    assert.match(text, /change roles .*! not_th/);
    assert.match(text, /operator +add the organization/);
    assert.doesNotMatch(text, /! created/);
    await admin.press("p");
    await admin.type("workshop");
    await admin.press("enter");
    await admin.until(/Audit 2, pod workshop/);
    await admin.untilGone("! not_the_op");
    await admin.press("enter");
    const details = await admin.until(/Outcome +ok \(200\)/);
    assert.match(details, /Who +officer/);
    assert.match(details, /Address +192\.0\.2\.1/);
    assert.match(details, /action +stop/);
    await admin.press("esc", "p", "enter", "/");
    await admin.type("not_the");
    await admin.press("enter");
    await admin.until(/Audit 1 of \d+ /);
  });
});

Deno.test("audit loads older entries while one scrolls", async () => {
  await withWorld(async (world) => {
    const entry = {
      source: "api",
      orgPrefix: "org",
      actorKind: "officer",
      actorId: "1",
      status: 200,
      outcome: "ok",
    } as const;
    for (let at = 0; at < 260; at++) insertAudit(world.db, { ...entry, action: `PUT /x/${at}` }, world.clock.now());
    await withAdmin(world, {}, async (admin) => {
      await run(admin, "audit", "Audit 200");
      await admin.press("G");
      await admin.until(/Audit 26\d/);
      await admin.press("G");
      await admin.until(/^> .*add the organization/m);
    });
  });
});

Deno.test("odd names in events and in the audit are harmless, and frames stay whole in any window", async () => {
  await withWorld(async (world) => {
    insertEvent(
      world.db,
      { orgId: 1, kind: "pod.stopped", subject: HOSTILE, actor: HOSTILE, details: { why: HOSTILE, list: [HOSTILE] } },
      world.clock.now(),
    );
    insertAudit(
      world.db,
      {
        source: "api",
        action: `GET /${HOSTILE}`,
        orgPrefix: "org",
        actorKind: "stranger",
        actorId: HOSTILE,
        actorName: HOSTILE,
        address: HOSTILE,
        status: 403,
        outcome: "not_an_officer",
        details: { HOSTILE },
      },
      world.clock.now(),
    );
    await withAdmin(world, { columns: 200, rows: 50 }, async (admin) => {
      for (const screen of ["events", "audit"]) {
        await run(admin, screen, "u{202e}");
        for (const [columns, rows] of [[40, 12], [200, 50], [61, 17], [80, 24]] as const) {
          await admin.resize(columns, rows);
        }
        await admin.press("enter");
        await admin.until("u{202e}");
        for (const [columns, rows] of [[40, 12], [1, 1], [200, 50]] as const) await admin.resize(columns, rows);
        await admin.press("esc");
      }
    });
  });
});

Deno.test("events and audit show the server's refusal, keep what they had, and go on", async () => {
  let answer: Response | null = null;
  const intercept = (request: Request) => /\/(events|audit)\?/.test(request.url) ? answer?.clone() ?? null : null;
  await withPods(["workshop"], { intercept }, async (admin) => {
    for (const [screen, shown] of [["events", "pod.created"], ["audit", "create a pod"]] as const) {
      answer = refusal(403, "You are not an officer of this organization", "not_an_officer");
      await run(admin, screen, "! You are not an officer of this organization");
      answer = null;
      await admin.press("ctrl-r");
      await admin.until(shown);
      answer = refusal(500, "Something went wrong on the server", "internal_error");
      await admin.press("ctrl-r");
      await admin.until("! Something went wrong on the server");
      assert(admin.text().includes(shown));
      answer = null;
      await admin.press("ctrl-r");
      await admin.untilGone("! Something went wrong");
    }
    await eventually(() => admin.offered().includes("q quit"), "it is still there");
  });
});
