/** `POST /pods/{id}/action` and `DELETE /pods/{id}`: legal actions, and the ways in which they go wrong. */
import { type Answer, invalid, json, noContent, problem, Refusal, refuse } from "./answers.ts";
import { type Context, podOf } from "./context.ts";
import { boot, halt, statusOf, terminate } from "./life.ts";
import { violations } from "./schema_check.ts";
import { type ActionWord, podAction } from "./schemas.ts";
import type { FakePod, World } from "./state.ts";
import { LEGAL, podView } from "./view.ts";

const NO_GPU = "not enough free GPUs on the host machine";

export function actOnPod(context: Context): Answer {
  const found = violations(podAction, context.body ?? null);
  if (found.length > 0) return invalid(found);
  return act(context, podOf(context), (context.body as { action: ActionWord }).action);
}

export function deletePod(context: Context): Answer {
  return act(context, podOf(context), "terminate");
}

function act(context: Context, pod: FakePod, action: ActionWord): Answer {
  checkLegal(context, pod, action);
  if (action === "start" || action === "restart") {
    const refused = context.fault("F27");
    if (refused) return noFreeGpu(refused.variant);
  }
  const apply = change(context, pod, action);
  const odd = context.fault("F29");
  if (odd?.variant === "200-but-not-yet") {
    pod.later = { at: context.world.clock.now() + (odd.ms ?? 2_000), apply };
    return action === "terminate" ? noContent() : json(podView(context, pod));
  }
  apply();
  if (odd) return problem(500, "INTERNAL_SERVER_ERROR");
  return action === "terminate" ? noContent() : json(podView(context, pod));
}

function checkLegal(context: Context, pod: FakePod, action: ActionWord): void {
  if (pod.cluster) refuse(409, "pod is a member of a cluster and cannot be changed on its own");
  if (pod.locked && action !== "start") refuse(409, "pod is locked");
  const status = statusOf(context.world, pod);
  if (!LEGAL[status]?.includes(action) || context.fault("F24")) {
    refuse(409, `action ${action} is not valid for a pod with status ${status}`);
  }
}

/** The change itself, which may be applied later; by then the pod may have changed, so it looks again. */
function change(context: Context, pod: FakePod, action: ActionWord): () => void {
  const { world } = context;
  if (action === "terminate") return () => world.pods.has(pod.id) && terminate(world, pod);
  if (action === "stop") return () => pod.phase === "up" && halt(world, pod);
  if (action === "restart") return () => pod.phase === "up" && boot(world, pod, { kind: "restart" });
  const lostGpu = context.fault("F28");
  const newIp = context.fault("F26", "ip") !== null;
  return () => startAgain(world, pod, { lostGpu: lostGpu?.variant ?? null, newIp });
}

/** Boots a stopped pod on its host, which may have no GPU left for it (F28). */
export function startAgain(world: World, pod: FakePod, { lostGpu, newIp }: { lostGpu: string | null; newIp: boolean }) {
  if (pod.phase === "up") return;
  if (pod.gpu) pod.gpusOnHost = lostGpu === null ? pod.gpu.count : lostGpu === "zero" ? 0 : null;
  boot(world, pod, { kind: "start", newIp });
}

function noFreeGpu(variant: string): Answer {
  if (variant === "plain") {
    return { status: 400, headers: { "content-type": "application/json" }, body: JSON.stringify({ error: NO_GPU }) };
  }
  if (variant === "other") throw new Refusal(problem(400, "The pod is being moved to another machine."));
  return problem(400, "There are not enough free GPUs on the host machine to start this pod.");
}
