import assert from "node:assert/strict";
import type { Reading } from "../../admin/ui/core/cache.ts";
import type { Connected, Pod } from "../../admin/ui/data/pods.ts";
import {
  accessText,
  canRestart,
  canStart,
  canStop,
  filesAtStop,
  machineText,
  noAddressHint,
  onText,
  statusSpan,
  statusWord,
  troubleText,
  whoIsOn,
} from "../../admin/ui/data/pod_words.ts";
import { withPods } from "./support.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const pod = (more: Partial<Pod> = {}): Pod => ({
  id: "p1",
  name: "workshop",
  provider: "runpod",
  status: "RUNNING",
  is_public: true,
  allowed_users: [],
  created_by: null,
  created_at: at(600),
  machine: null,
  cost_per_hour: 0.5,
  stale: false,
  as_of: at(0),
  reachable: true,
  unreachable_reason: null,
  port_forwarding: true,
  keeps_files: true,
  started_at: at(125),
  auto_stop_after_minutes: null,
  max_run_hours: null,
  keep_until: null,
  up_since: at(125),
  status_why: null,
  status_since: at(125),
  trouble: null,
  next_session: null,
  cost_this_month: 1,
  stops_at: null,
  stops_why: null,
  stays_why: null,
  ...more,
} as Pod);

Deno.test("statusSpan marks each state, and says since when and whether RunPod was heard", () => {
  const text = (more: Partial<Pod>) => statusSpan(pod(more), NOW).text;
  assert.equal(text({}), "● Running 2h");
  assert.equal(text({ stale: true }), "● Running~ 2h");
  assert.equal(text({ reachable: false }), "! Running 2h");
  assert.equal(text({ status: "EXITED" }), "○ Stopped 2h");
  assert.equal(text({ status: "STARTING", status_since: at(3) }), "◐ Starting 3m");
  assert.equal(text({ status: "GONE", status_since: null }), "! Gone");
  assert.equal(statusWord("GONE"), "Gone (deleted at RunPod)");
  assert.equal(statusWord(null), "Unknown");
});

Deno.test("a stop is offered in every state but stopped and gone, a start while it does not run", () => {
  const offers = (status: string) => [canStart, canStop, canRestart].map((can) => can(pod({ status })));
  assert.deepEqual(offers("RUNNING"), [false, true, true]);
  assert.deepEqual(offers("EXITED"), [true, false, false]);
  assert.deepEqual(offers("GONE"), [false, false, false]);
  assert.deepEqual(offers("PROVISIONING"), [true, true, false]);
  assert.deepEqual(offers("SOMETHING_NEW"), [true, true, false]);
});

Deno.test("noAddressHint comes after some minutes without an answer by SSH", () => {
  assert.equal(noAddressHint(pod({ reachable: null, up_since: at(1) }), NOW), null);
  assert.match(noAddressHint(pod({ reachable: null, up_since: at(5) }), NOW)!, /5 min without an answer/);
  assert.equal(noAddressHint(pod({ reachable: true, up_since: at(5) }), NOW), null);
  assert.equal(troubleText(pod({ reachable: null, up_since: at(5) }), NOW), "no public address?");
});

Deno.test("machineText takes the first thing that is known", () => {
  const text = (machine: Record<string, unknown> | null) => machineText(pod({ machine } as Partial<Pod>));
  assert.equal(text({ gpuType: { displayName: "RTX A4000" }, gpuTypeId: "NVIDIA RTX A4000" }), "RTX A4000");
  assert.equal(text({ gpuTypeId: "NVIDIA RTX A4000", dataCenterId: "EU-RO-1" }), "NVIDIA RTX A4000");
  assert.equal(text({ dataCenterId: "EU-RO-1" }), "EU-RO-1");
  assert.equal(text(null), "");
});

Deno.test("access and files are said in the same words everywhere", () => {
  assert.equal(accessText(pod()), "All members");
  assert.equal(accessText(pod({ is_public: false, allowed_users: ["1", "2"] })), "2 listed");
  assert.equal(accessText(pod({ is_public: false })), "Officers only");
  assert.deepEqual(filesAtStop(pod({ keeps_files: false })), {
    text: "This pod has no volume: EVERY file on it is lost.",
    isWarning: true,
  });
  assert.match(String(filesAtStop(pod())), /volume stay/);
});

Deno.test("onText counts who is on, and says when it is not known", () => {
  const reading = { at: 0, problem: null, isLoading: false };
  assert.equal(onText(pod({ status: "EXITED" }), null), "");
  assert.equal(onText(pod(), { ...reading, value: undefined }), "…");
  const unknown = {
    pod_id: "p1",
    state: "unknown",
    reason: "x",
    sessions: [],
    connections: null,
    clock_offset_seconds: null,
  } as const;
  assert.equal(onText(pod(), { ...reading, value: { ...unknown, sessions: [], certificates: [] } }), "?");
});

Deno.test("whoIsOn counts tunnels and connections without a shell, each person once", () => {
  const one = (name: string, more: Record<string, unknown> = {}) => (
    { username: name, name, discord_id: name, is_admin: false, seconds: 1, ...more }
  );
  const reading = (sessions: unknown[], certificates: unknown[], connections: number) =>
    ({
      at: 0,
      problem: null,
      isLoading: false,
      value: {
        pod_id: "p1",
        state: "known",
        reason: null,
        clock_offset_seconds: null,
        sessions,
        certificates,
        connections,
      },
    }) as Reading<Connected>;
  const said = (who: Reading<Connected>) => [whoIsOn(pod(), who), onText(pod(), who)];
  const ada = one("Ada", { is_admin: true });
  assert.deepEqual(said(reading([], [], 0)), ["Nobody is on it now.", "0"]);
  assert.deepEqual(said(reading([ada, ada], [one("Ada", { serial: "1" }), one("Bob", { serial: "2" })], 4)), [
    "On it now: Ada (Root), Bob (a tunnel). They are disconnected.",
    "3",
  ]);
  assert.deepEqual(said(reading([], [], 1)), [
    "Nobody has a shell on it, but 1 SSH connection is open. They are disconnected.",
    "1",
  ]);
  assert.deepEqual(said(reading([], [], 2)), [
    "Nobody has a shell on it, but 2 SSH connections are open. They are disconnected.",
    "2",
  ]);
});

Deno.test("a pod that allows forwarding of Unix sockets is marked", async () => {
  const intercept = (request: Request) =>
    request.url.endsWith("/pods") ? Response.json({ pods: [pod({ port_forwarding: false })], warnings: [] }) : null;
  await withPods([], { intercept, columns: 300 }, async (admin) => {
    await admin.until("! none");
    admin.admin.input({ kind: "key", key: "enter" });
    await admin.until("Unix sockets can be forwarded: members get no port forwarding");
  });
});
