/** How rustls begins what it says of a certificate. It goes on with what the certificate holds, which is nobody's business. */
const OF_CERTIFICATE = /^invalid peer certificate\b/;

const REASONS: readonly [RegExp, string][] = [
  [/not valid for name|NotValidForName/, "the certificate is not valid for this host name"],
  [/\bexpired\b|Expired/, "the certificate has expired"],
  [/not valid yet|NotValidYet/, "the certificate is not valid yet"],
  [/UnknownIssuer/, "the certificate is not of an authority that this server trusts"],
];

/**
 * Why a TLS connection failed, from the message of the runtime, for people. The names in a certificate are left out: an
 * address that somebody tries out may belong to a machine whose names are not for them.
 */
export function tlsFailure(message: string): string {
  if (!OF_CERTIFICATE.test(message)) return message;
  return REASONS.find(([form]) => form.test(message))?.[1] ?? "the certificate is not accepted";
}
