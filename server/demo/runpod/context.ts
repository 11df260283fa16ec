/** What a route gets: the world, who asks, what was asked, and which faults are on for this one request. */
import type { Answer } from "./answers.ts";
import { refuse } from "./answers.ts";
import type { FaultId } from "./fault_table.ts";
import type { ActiveFault, Call } from "./faults.ts";
import type { FakePod, World } from "./state.ts";

export interface Context {
  readonly world: World;
  readonly account: string;
  readonly call: Call;
  readonly query: URLSearchParams;
  /** The parsed body; undefined when there was none. */
  readonly body: unknown;
  /** Segments of the path that the route's pattern leaves open. */
  readonly params: Readonly<Record<string, string>>;
  /** Is this fault on? Counted once for each request, however many pods it touches. */
  fault(id: FaultId, variant?: string): ActiveFault | null;
}

export type Handler = (context: Context) => Answer;

/** A `fault` function for one request that remembers what it was told. */
export function faultsOf(world: World, call: Call): Context["fault"] {
  const asked = new Map<string, ActiveFault | null>();
  return (id, variant) => {
    const key = `${id} ${variant ?? ""}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    const found = world.faults.take(id, call, variant);
    asked.set(key, found);
    return found;
  };
}

/** The pod of the path; 404 when it is unknown, another account's, or not visible yet. */
export function podOf({ world, account, params }: Context): FakePod {
  const pod = world.pods.get(params["id"] ?? "");
  if (!pod || pod.account !== account || pod.invisibleUntil > world.clock.now()) refuse(404, "pod not found");
  return pod;
}
