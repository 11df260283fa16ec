/**
 * A program under the umask 077 with one pod, `pod1`, until its input ends; says the pod's port. Arguments: the kind of
 * host, the pods' folder, and the pod's environment as JSON.
 */
import { systemClock } from "../../server/clock.ts";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";

Deno.umask(0o077);
const [kind = "", folder = "", env = "{}"] = Deno.args;
const host = kind === "sshd"
  ? createSshdHost({ folder, flavour: "orgpods", log: silentLog })
  : createInProcessHost({ folder, log: silentLog, clock: systemClock });
const { port } = await host.start({ id: "pod1", image: "test", env: JSON.parse(env) });
console.log(`port ${port}`);
await Deno.stdin.read(new Uint8Array(1));
await host.close();
