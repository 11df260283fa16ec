import { isIP } from "node:net";
import { z } from "zod";

/** Where a pod's SSH server can be reached from outside. */
export interface SshAddress {
  readonly host: string;
  readonly port: number;
}

const directShape = z.object({ ssh: z.object({ direct: z.object({ host: z.unknown(), port: z.unknown() }) }) });
const runtimeShape = z.object({ runtime: z.object({ ports: z.array(z.unknown()) }) });
const portShape = z.object({
  private: z.unknown(),
  privatePort: z.unknown(),
  public: z.unknown(),
  publicPort: z.unknown(),
  type: z.unknown(),
  ip: z.unknown(),
  isIpPublic: z.unknown(),
}).partial();
const mappingShape = z.object({ publicIp: z.unknown(), portMappings: z.object({ "22": z.unknown() }) });

/**
 * The SSH address in a pod as RunPod sent it; null means "not known yet". Only a RUNNING pod has one: a stopped pod goes
 * on reporting its old ports. In this order: `ssh.direct`; the first entry of `runtime.ports` for TCP port 22 with a
 * public IP; `portMappings["22"]` with `publicIp` (API v1). Never `ssh.proxy`, which knows nothing of our certificates.
 */
export function sshAddress(raw: unknown, status: string): SshAddress | null {
  if (status !== "RUNNING") return null;
  const direct = directShape.safeParse(raw).data?.ssh.direct;
  if (direct !== undefined) {
    const address = toAddress(direct.host, direct.port);
    if (address !== null) return address;
  }
  for (const entry of runtimeShape.safeParse(raw).data?.runtime.ports ?? []) {
    const address = fromRuntimePort(entry);
    if (address !== null) return address;
  }
  const v1 = mappingShape.safeParse(raw).data;
  return v1 === undefined ? null : toAddress(v1.publicIp, v1.portMappings["22"]);
}

function fromRuntimePort(entry: unknown): SshAddress | null {
  const port = portShape.safeParse(entry).data;
  if (port === undefined) return null;
  if (toPort(port.private ?? port.privatePort) !== 22 || port.isIpPublic === false) return null;
  // An http entry carries the address of RunPod's own proxy.
  if (typeof port.type === "string" && port.type.toLowerCase() !== "tcp") return null;
  const address = toAddress(port.ip, port.public ?? port.publicPort);
  return address === null || isSharedAddress(address.host) ? null : address;
}

function toAddress(host: unknown, port: unknown): SshAddress | null {
  const number = toPort(port);
  if (typeof host !== "string" || number === null || !isHost(host)) return null;
  return { host, port: number };
}

/** An IP address or a host name. It ends up in ssh command lines and configurations, so nothing else will do. */
function isHost(host: string): boolean {
  return isIP(host) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host);
}

function toPort(port: unknown): number | null {
  const number = typeof port === "string" && /^\d{1,5}$/.test(port) ? Number(port) : port;
  return typeof number === "number" && Number.isInteger(number) && number >= 1 && number <= 65_535 ? number : null;
}

/** 100.64.0.0/10 (RFC 6598) is never reachable from outside; RunPod's proxies live there. */
function isSharedAddress(host: string): boolean {
  const [, second] = /^100\.(\d{1,3})\./.exec(host) ?? [];
  return second !== undefined && Number(second) >= 64 && Number(second) <= 127;
}
