/**
 * Every fault of the stand-in RunPod has a case for the schedule and one for reconcile. The list of faults is the
 * stand-in's own, so that a new fault fails here until it has both.
 */
import { inWorld } from "../pods/support.ts";
import { caseOf, checkCovered, type Covered, faultsOfStandin } from "./fault_cases.ts";
import { SWITCHED_CASES as reconcileSwitched } from "./fault_reconcile_cases.ts";
import { playReconcile } from "./fault_reconcile_scene.ts";
import { STANDING_CASES as reconcileStanding } from "./fault_reconcile_standing.ts";
import { SWITCHED_CASES as scheduleSwitched } from "./fault_schedule_cases.ts";
import { playSchedule } from "./fault_schedule_scene.ts";
import { STANDING_CASES as scheduleStanding } from "./fault_schedule_standing.ts";

async function allFaults(): Promise<Covered[]> {
  let all: Covered[] = [];
  await inWorld({}, async (world) => void (all = await faultsOfStandin(world)));
  return all;
}

Deno.test("the schedule starts, stops and replaces pods as it should under every fault of RunPod", async (t) => {
  const cases = { ...scheduleSwitched, ...scheduleStanding };
  const covered = await allFaults();
  await t.step("no fault is without a case", () => checkCovered(covered, cases, "the schedule"));
  for (const one of covered) await t.step(one.key, async () => await playSchedule(one, caseOf(cases, one)));
});

Deno.test("reconcile tells what happened to pods, once, under every fault of RunPod", async (t) => {
  const cases = { ...reconcileSwitched, ...reconcileStanding };
  const covered = await allFaults();
  await t.step("no fault is without a case", () => checkCovered(covered, cases, "reconcile"));
  for (const one of covered) await t.step(one.key, async () => await playReconcile(one, caseOf(cases, one)));
});
