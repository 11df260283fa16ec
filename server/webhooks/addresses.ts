import ipaddr from "ipaddr.js";

/** Azure's platform answers every machine there: DNS, certificates, the guest agent's secrets. */
const PLATFORM = "168.63.129.16";

/**
 * True for an address of the public internet: no private, loopback, link-local, shared (CGNAT), multicast, unspecified,
 * documentation or reserved one, and none that carries an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo).
 * The ranges are those of IANA's special-purpose registries, by ipaddr.js, and the one address of the public space that a
 * cloud uses inside. Anything that is no IP address is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast" || parsed.toString() === PLATFORM) return false;
  // Outside of 2000::/3 nothing is given out to the public: there lie, among others, the IPv4-compatible addresses.
  return parsed instanceof ipaddr.IPv4 || (parsed.toByteArray()[0]! & 0xe0) === 0x20;
}

/** The IP address that a URL's host name is, without brackets; null for a name. URLs write IPv4 in its plain form. */
export function literalAddress(hostname: string): string | null {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(hostname) ? hostname : null;
}

/** True for a host that leads inside whatever DNS says: a literal address that is not public, or a local name. */
export function leadsInside(hostname: string): boolean {
  const literal = literalAddress(hostname);
  if (literal !== null) return !isPublicAddress(literal);
  return /^(?:.+\.)?(?:localhost|local|internal)\.?$/.test(hostname);
}
