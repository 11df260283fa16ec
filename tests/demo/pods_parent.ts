/** A program with one pod that waits to be killed; says when the pod runs. Its argument is the pods' folder. */
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";

const host = createSshdHost({ folder: Deno.args[0] ?? "", flavour: "orgpods", log: silentLog });
await host.start({ id: "a", image: "test", env: {} });
await Deno.stdout.write(new TextEncoder().encode("ready\n"));
await Deno.stdin.read(new Uint8Array(1));
await host.close();
