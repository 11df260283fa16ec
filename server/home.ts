import { createHash } from "node:crypto";

/**
 * Names the machine and the folder a data directory lives in, without telling either: a database that finds itself in
 * another home was moved or copied.
 */
export function homeOf(dataDir: string): string {
  return createHash("sha256").update(`${machineId()}\n${Deno.realPathSync(dataDir)}`).digest("hex").slice(0, 32);
}

function machineId(): string {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      const id = Deno.readTextFileSync(path).trim();
      if (id !== "") return id;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof Deno.errors.PermissionDenied)) throw error;
    }
  }
  return Deno.hostname();
}
