/** What a pod's specification must keep to before anything is made of it. */
import { shown } from "../../errors.ts";
import type { PodSpec } from "./host.ts";

const POD_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The id becomes a folder's name and a host name. Throws an Error otherwise. */
export function checkPodId(id: string): void {
  if (!POD_ID.test(id)) throw new Error(`A pod id is up to 63 letters, digits, hyphens and underscores: ${shown(id)}`);
}

/** The environment of process 1, with what the platform itself sets. Throws an Error on a name or value that no
 * process can carry; the value is not shown. */
export function podEnvironment(pod: PodSpec): Record<string, string> {
  const env: Record<string, string> = {
    PATH: DEFAULT_PATH,
    HOME: "/root",
    HOSTNAME: pod.id,
    ...pod.env,
  };
  env["RUNPOD_POD_ID"] = pod.id;
  for (const [name, value] of Object.entries(env)) {
    if (!ENV_NAME.test(name)) throw new Error(`An environment name is letters, digits and underscores: ${shown(name)}`);
    if (value.includes("\0")) throw new Error(`The value of ${name} holds a NUL character`);
  }
  return env;
}
