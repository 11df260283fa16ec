import { AppError } from "../errors.ts";
import { isPrintable } from "./wire.ts";

/** sshd refuses a certificate with more principals than this. */
export const MAX_PRINCIPALS = 256;
/** Serials stay below this, so that they fit a signed database column. */
const SERIAL_LIMIT = 2n ** 63n;
const MAX_KEY_ID = 256;
const MAX_FORCE_COMMAND = 1_024;
const NONCE_LENGTH = 32;

/** The extensions a certificate may carry here. X11 forwarding and user rc files are never given to anybody. */
const EXTENSIONS: readonly string[] = ["permit-agent-forwarding", "permit-port-forwarding", "permit-pty"];

/** What a user certificate is to say about its holder (HTTP contract section 6.3). */
export interface CertificateSpec {
  /** 1 to 2^63-1, unique; see `randomSerial`. */
  readonly serial: bigint;
  /** Written to sshd's log as it is, so printable ASCII only: a newline would forge a log line. */
  readonly keyId: string;
  /** At least one, because sshd takes an empty list for "anybody". */
  readonly principals: readonly string[];
  /** Seconds since 1970, inclusive. */
  readonly validAfter: number;
  /** Seconds since 1970, exclusive. */
  readonly validBefore: number;
  /** The one command sshd runs, whatever the client asks for. */
  readonly forceCommand?: string;
  /** Names in ASCII order, each once. */
  readonly extensions: readonly string[];
  /** For tests that compare with other programs' certificates; random 32 bytes otherwise. */
  readonly nonce?: Uint8Array;
}

/**
 * Refuses a spec that would make a dangerous or meaningless certificate. A spec comes from the program's own rules, so a
 * bad one is a fault of the program: throws `internal_error` naming the field.
 */
export function checkSpec(spec: CertificateSpec): void {
  demand(spec.serial > 0n && spec.serial < SERIAL_LIMIT, "serial", "is not between 1 and 2^63-1");
  checkText("key id", spec.keyId, MAX_KEY_ID);
  demand(spec.principals.length > 0, "principals", "are empty, which sshd takes for anybody");
  demand(spec.principals.length <= MAX_PRINCIPALS, "principals", `are more than ${MAX_PRINCIPALS}`);
  demand(new Set(spec.principals).size === spec.principals.length, "principals", "name one twice");
  const plain = spec.principals.every((name) => /^[\x21-\x7e]+$/.test(name) && !name.includes(","));
  demand(plain, "principals", "have one that is empty or has characters other than printable ASCII, or a comma");
  checkTime("start", spec.validAfter);
  checkTime("end", spec.validBefore);
  demand(spec.validBefore > spec.validAfter, "end", "is not after its start");
  if (spec.forceCommand !== undefined) checkText("forced command", spec.forceCommand, MAX_FORCE_COMMAND);
  checkExtensions(spec.extensions);
  demand(spec.nonce === undefined || spec.nonce.length === NONCE_LENGTH, "nonce", `is not ${NONCE_LENGTH} bytes`);
}

function checkExtensions(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    demand(EXTENSIONS.includes(name), "extensions", `have one that is none of ${EXTENSIONS.join(", ")}`);
    const before = names[index - 1];
    demand(before !== name, "extensions", "name one twice");
    demand(before === undefined || before < name, "extensions", "are not in ASCII order");
  }
}

function checkText(field: string, text: string, max: number): void {
  demand(text !== "", field, "is empty");
  demand(text.length <= max, field, `is longer than ${max} characters`);
  demand(isPrintable(text), field, "has characters other than printable ASCII");
}

function checkTime(field: string, seconds: number): void {
  demand(Number.isSafeInteger(seconds) && seconds >= 0, field, "is not a whole number of seconds since 1970");
}

function demand(condition: boolean, field: string, fault: string): void {
  if (!condition) throw new AppError("internal_error", `The certificate's ${field} ${fault}`);
}
