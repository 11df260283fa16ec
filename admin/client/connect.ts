import type { Connection } from "./connection.ts";
import { connectLocal, type LocalTarget } from "./local.ts";
import { connectRemote, type RemoteTarget } from "./remote.ts";

/** A server on this machine, by its data directory, or one elsewhere, by address and officer token. */
export type Target = ({ readonly kind: "local" } & LocalTarget) | ({ readonly kind: "remote" } & RemoteTarget);

export async function connect(target: Target): Promise<Connection> {
  return target.kind === "remote" ? connectRemote(target) : await connectLocal(target);
}
