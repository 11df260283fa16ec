/** What must hold once a term is over and everything has recovered. */
import assert from "node:assert/strict";
import { isoTime, MINUTE } from "../../../server/clock.ts";
import { SCHEDULE_TIMINGS } from "../../../server/schedule/decide.ts";
import { BASE_URL, RUNPOD_KEY, type World } from "../../support/world.ts";
import type { AuditRow, Records } from "./records.ts";
import type { Rules } from "./rules.ts";
import type { Watch } from "./watch.ts";

export interface Ending {
  readonly sessions: Readonly<Record<string, number>>;
  readonly spend: { readonly own: number; readonly billed: number; readonly unsure: number };
}

interface Over {
  readonly world: World;
  readonly records: Records;
  readonly watch: Watch;
  readonly rules: Rules;
  readonly from: number;
}

export async function checkEnding(over: Over): Promise<Ending> {
  checkIntents(over);
  checkOrders(over);
  checkAudit(over);
  checkEvents(over);
  return { sessions: checkSessions(over), spend: await checkSpend(over) };
}

function countBy<T>(list: readonly T[], key: (one: T) => string | null): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) {
    const name = key(one);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function checkIntents({ records, rules }: Over): void {
  for (const one of records.openIntents()) {
    rules.break(`The ${one.action} asked for at ${isoTime(one.asked_at)} is ${one.state} at the end`);
  }
}

/** Every session ran or says why not, and what it says is true. */
function checkSessions({ records, watch, rules }: Over): Record<string, number> {
  const events = records.events();
  const incarnations = new Map<string, string[]>();
  for (const { runpod_id, pod_id } of records.incarnations()) {
    incarnations.set(pod_id, [...incarnations.get(pod_id) ?? [], runpod_id]);
  }
  const sessions = records.sessions();
  for (const one of sessions) {
    const name = `${one.title} of ${isoTime(one.start_at)} (${one.runpod_id})`;
    if (one.finished === 0) rules.break(`${name} is not over: ${one.state}`);
    const ids = incarnations.get(one.pod_id) ?? [];
    const told = events.filter((event) => event.once_key === `session:${one.id}:over`);
    if (one.state === "done") {
      if (told.length > 0) rules.break(`${name} ran, and ${told[0]!.kind} was told of it`);
      const ran = watch.runs.some((run) =>
        ids.includes(run.pod) && run.from < one.stop_at + 2 * SCHEDULE_TIMINGS.turnMs &&
        (run.until ?? Infinity) >= one.start_at - SCHEDULE_TIMINGS.leadMs
      );
      // One that was deleted while nobody knew whether its start had happened is kept only for the stop.
      const isDeleted = one.started === 1 && one.started_at === null;
      if (!ran && !isDeleted) rules.break(`${name} is done, and its pod never ran for it`);
      continue;
    }
    const wasStarted = watch.changes.some((change) =>
      ids.includes(change.pod) && change.what === "start" && change.who === "server" && !change.withoutGpu &&
      change.at >= one.start_at - SCHEDULE_TIMINGS.leadMs && change.at < one.stop_at && !change.isLate
    );
    if (one.state === "missed" && wasStarted) {
      rules.break(`${name} is missed, and its pod ${one.runpod_id} was started for it`);
    }
    if (one.error === null || told.length !== 1 || told[0]!.kind !== `session.${one.state}`) {
      rules.break(`${name} is ${one.state} with ${told.length} events: ${one.error}`);
    }
  }
  return Object.fromEntries(countBy(sessions, (one) => one.state));
}

/** No order went out twice, and none was carried out twice. */
function checkOrders({ records, watch, rules }: Over): void {
  const intents = records.intents();
  // A stop that was only written down when the program ended is sent by the next life.
  const sent = countBy(
    intents,
    (one) => one.sent_at !== null || one.action === "stop" ? `${one.action} ${one.runpod_id}` : null,
  );
  for (const [order, count] of countBy(watch.orders, (one) => `${one.action} ${one.pod}`)) {
    const [action] = order.split(" ");
    if (action === "start" || action === "restart") {
      if (count > (sent.get(order) ?? 0)) {
        rules.break(`${order} was sent ${count} times for ${sent.get(order) ?? 0} orders`);
      }
    }
    if (action === "create" && count > 1) rules.break(`${order} was sent ${count} times`);
  }
  const gpuless = countBy(watch.changes, (one) => one.what === "stop" && one.withoutGpu ? one.pod : null);
  for (
    const [change, count] of countBy(watch.changes, (one) => one.who === "outside" ? null : `${one.what} ${one.pod}`)
  ) {
    const [what, pod] = change.split(" ") as [string, string];
    if (what === "create") continue;
    const orders = (sent.get(change) ?? 0) + (what === "stop" ? gpuless.get(pod) ?? 0 : 0);
    if (count > orders) rules.break(`${change} was carried out ${count} times for ${orders} orders`);
  }
}

/** Each action that was settled is in the audit once. */
function checkAudit({ records, rules }: Over): void {
  const detailsOf = (row: AuditRow) => JSON.parse(row.details) as { action?: string };
  const audited = countBy(records.audit(), (row) => {
    const { action } = detailsOf(row);
    return action === undefined || row.pod_id === null ? null : `${action} ${row.pod_id} ${row.outcome === "ok"}`;
  });
  const settled = countBy(
    records.intents(),
    (one) =>
      one.action === "create" || one.state !== "done" && one.state !== "failed"
        ? null
        : `${one.action} ${one.runpod_id} ${one.state === "done"}`,
  );
  for (const [action, count] of settled) {
    if (audited.get(action) !== count) {
      rules.break(`${action}: ${audited.get(action) ?? 0} audit rows for ${count} actions`);
    }
  }
  const created = countBy(records.audit(), (row) => row.outcome === "created" ? row.pod_id : null);
  const creates = records.intents().filter((one) => one.action === "create" && one.state === "done").length;
  if (created.size !== creates) rules.break(`${created.size} audit rows for ${creates} creates`);
}

/** Each thing is told once. */
function checkEvents({ records, watch, rules }: Over): void {
  const events = records.events();
  for (const [key, count] of countBy(events, (one) => one.once_key === null ? null : `${one.org_id} ${one.once_key}`)) {
    if (count > 1) rules.break(`${count} events ${key}`);
  }
  const ids = new Set(events.map((one) => one.once_key));
  const done = records.intents().filter((one) => one.state === "done");
  for (const change of watch.changes) {
    const orders = done.filter((one) =>
      one.runpod_id === change.pod && one.action === change.what && one.action !== "terminate" &&
      one.asked_at <= change.at && change.at <= one.settled_at!
    );
    const isTold = orders.some((one) => ids.has(`intent:${one.id}`));
    if (orders.length > 0 && !isTold) rules.break(`No event of the ${change.what} of ${change.pod}`);
  }
  const sessions = countBy(events, (one) => one.kind.startsWith("session.") ? `${one.kind} ${one.details}` : null);
  for (const [told, count] of sessions) if (count > 1) rules.break(`${count} events ${told}`);
  const outside = events.filter((one) => one.once_key?.startsWith("outside:"));
  for (const [pod, count] of countBy(outside, (one) => one.runpod_id)) {
    // A start without a GPU is taken back, and a lost answer to that leaves nobody who did it.
    const moves = watch.changes.filter((one) => one.pod === pod && (one.who === "outside" || one.withoutGpu)).length;
    if (count > moves) rules.break(`${pod} was moved outside ${moves} times, and ${count} times were told`);
  }
}

/** The program's own sum beside what RunPod billed for the pods that it knows. */
async function checkSpend({ world, records, rules, from }: Over): Promise<Ending["spend"]> {
  const now = world.clock.now();
  const span = `from=${new Date(from).toISOString()}&to=${new Date(now + MINUTE).toISOString()}`;
  const answer = await world.call("GET", `/api/compute/org/spend?${span}&group=pod`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  const { amount: own, unsure } = answer.json.total;
  const bills = await billedByPod(world, from, now);
  let billed = 0;
  for (const [id, amount] of bills) if (records.isKnown(id)) billed += amount;
  const spend = { own, billed, unsure };
  if (Math.abs(own - billed) > 0.01 * billed + unsure) rules.break(`Spend ${JSON.stringify(spend)}`);
  return spend;
}

async function billedByPod(world: World, from: number, to: number): Promise<Map<string, number>> {
  const query = new URLSearchParams({ bucketSize: "month", startTime: isoZ(from), endTime: isoZ(to) });
  const request = new Request(`${BASE_URL}/v2/billing/pods?${query}`, {
    headers: { authorization: `Bearer ${RUNPOD_KEY}`, "user-agent": "test" },
  });
  const answer = await world.runpod.fetch(request);
  assert.equal(answer.status, 200);
  const { records } = await answer.json() as { records: { podId: string; totalAmount: number }[] };
  const sums = new Map<string, number>();
  for (const { podId, totalAmount } of records) sums.set(podId, (sums.get(podId) ?? 0) + totalAmount);
  return sums;
}

const isoZ = (at: number) => new Date(at).toISOString();
