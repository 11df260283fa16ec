/** What really happens to the pods at RunPod, seen from beside the stand-in: every change, and who made it. */
import type { Clock } from "../../../server/clock.ts";
import type { FakePod, FakeRunpod } from "../../../server/demo/runpod/mod.ts";

/** Who makes changes at the moment: the program by itself, an officer through it, or somebody in RunPod's console. */
export type Who = "server" | "officer" | "outside";

export interface Change {
  readonly at: number;
  /** RunPod's id. */
  readonly pod: string;
  readonly what: "create" | "start" | "stop" | "restart" | "terminate";
  readonly who: Who;
  /** The pod was up without its GPU when it was stopped. */
  readonly withoutGpu: boolean;
  /** It was not done when it was asked for, but later. */
  readonly isLate: boolean;
}

/** A time in which a pod was up. */
export interface Run {
  readonly pod: string;
  readonly from: number;
  until: number | null;
  /** Who began it. */
  readonly who: Who;
  readonly withoutGpu: boolean;
}

/** An order that reached RunPod, whatever became of it. */
export interface Order {
  readonly pod: string;
  readonly action: string;
  readonly who: Who;
}

export interface Watch {
  readonly changes: readonly Change[];
  readonly runs: readonly Run[];
  readonly orders: readonly Order[];
  /** The run a pod is in now. */
  runOf(pod: string): Run | undefined;
  /** Does something as somebody; nobody else does anything meanwhile. */
  as<T>(who: Who, work: () => Promise<T> | T): Promise<T>;
  fetch(inner: typeof fetch): typeof fetch;
  /** Looks at what has changed. */
  look(): void;
}

interface Seen {
  readonly phase: FakePod["phase"];
  readonly generation: number;
}

/** Watches a stand-in; `onOrder` hears of each order before it gets there. */
export function createWatch(
  runpod: FakeRunpod,
  clock: Clock,
  onOrder: (order: Order, now: number) => void,
): Watch {
  const changes: Change[] = [];
  const runs: Run[] = [];
  const orders: Order[] = [];
  const open = new Map<string, Run>();
  let seen = new Map<string, Seen>();
  let who: Who = "server";

  let asked: Order | null = null;
  /** Who asked for what last. */
  const askers = new Map<string, Who>();

  const note = (pod: string, what: Change["what"], withoutGpu: boolean) => {
    const at = clock.now();
    const isLate = who !== "outside" && what !== "create" && (asked?.pod !== pod || asked.action !== what);
    const by = isLate ? askers.get(`${what} ${pod}`) ?? who : who;
    const change = { at, pod, what, who: by, withoutGpu, isLate };
    changes.push(change);
    const run = open.get(pod);
    if (run !== undefined) run.until = at;
    open.delete(pod);
    if (what === "stop" || what === "terminate") return;
    const begun = { pod, from: at, until: null, who: by, withoutGpu };
    runs.push(begun);
    open.set(pod, begun);
  };
  const look = () => {
    const now = new Map<string, Seen>();
    for (const pod of runpod.pods.list()) {
      now.set(pod.id, { phase: pod.phase, generation: pod.generation });
      const before = seen.get(pod.id);
      const withoutGpu = pod.gpu !== null && (pod.gpusOnHost ?? 0) < pod.gpu.count;
      if (before === undefined) note(pod.id, pod.phase === "up" ? "create" : "stop", withoutGpu);
      else if (before.generation !== pod.generation) {
        if (pod.phase === "exited") note(pod.id, "stop", withoutGpu);
        else note(pod.id, before.phase === "up" ? "restart" : "start", withoutGpu);
      }
    }
    for (const id of seen.keys()) if (!now.has(id)) note(id, "terminate", false);
    seen = now;
  };
  return {
    changes,
    runs,
    orders,
    runOf: (pod) => open.get(pod),
    async as(by, work) {
      who = by;
      try {
        return await work();
      } finally {
        look();
        who = "server";
      }
    },
    fetch: (inner) => async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : String(input));
      if (!pathname.startsWith("/v2/")) return await inner(input, init);
      const order = orderOf(init, pathname, who);
      if (order !== null) {
        orders.push(order);
        askers.set(`${order.action} ${order.pod}`, who);
        onOrder(order, clock.now());
      }
      try {
        return await inner(input, init);
      } finally {
        asked = order;
        look();
        asked = null;
      }
    },
    look,
  };
}

function orderOf(init: RequestInit | undefined, path: string, who: Who): Order | null {
  const pod = /\/pods\/([^/]+)/.exec(path)?.[1];
  if (init?.method === "DELETE") return { pod: pod ?? "", action: "terminate", who };
  if (init?.method !== "POST" || typeof init.body !== "string") return null;
  const body = JSON.parse(init.body) as { action?: string; name?: string };
  return pod === undefined ? { pod: body.name ?? "", action: "create", who } : { pod, action: body.action ?? "", who };
}
