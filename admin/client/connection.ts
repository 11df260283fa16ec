import { connectLocal, type LocalTarget } from "./local.ts";
import { connectRemote, type RemoteTarget } from "./remote.ts";

/** A way to an orgpods server for the clients of its API. */
export interface Connection {
  /** What stands before the path of every request: an origin. */
  readonly baseUrl: string;
  /** True on the server itself, where every request is the operator's. */
  readonly isOperator: boolean;
  /** True when no server runs and the App is in this process: then nothing is scheduled. */
  readonly isOwnProcess?: boolean;
  /** Sends one request. Throws `Refusal` when no answer comes. */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** A server on this machine, by its data directory, or one elsewhere, by address and officer token. */
export type Target = ({ readonly kind: "local" } & LocalTarget) | ({ readonly kind: "remote" } & RemoteTarget);

export async function connect(target: Target): Promise<Connection> {
  return target.kind === "remote" ? connectRemote(target) : await connectLocal(target);
}
