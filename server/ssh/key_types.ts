import { ed25519 } from "@noble/curves/ed25519.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { ensure } from "./format_error.ts";
import { isPrintable, type Reader } from "./wire.ts";

/** How closely to look: `shape` is lengths and ranges; `full` also asks whether points lie on their curve (slower). */
export type Depth = "shape" | "full";

interface Field {
  /** Cheap checks of one field's bytes. Throws a FormatError. */
  readonly shape: (bytes: Uint8Array) => void;
  /** Curve arithmetic, where the field is a point. Throws a FormatError. */
  readonly point?: (bytes: Uint8Array) => void;
}

export interface KeyType {
  /** The type as it stands in a public key line and in the key's blob. */
  readonly name: string;
  /** The type of a certificate for such a key. */
  readonly certificateName: string;
  /** The short name of ssh-keygen's listings. */
  readonly label: string;
  readonly fields: readonly Field[];
}

const CURVES = { nistp256: p256, nistp384: p384, nistp521: p521 } as const;
type CurveName = keyof typeof CURVES;

const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 16_384;
/** OpenSSL verifies large moduli only with exponents up to this size. */
const MAX_EXPONENT_BITS = 64;

/** The point, or undefined for bytes that are none: noble throws plain errors then. Other errors pass through. */
function pointOf<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    if (error instanceof Error && /^(?:bad point|invalid field element)\b/.test(error.message)) return undefined;
    throw error;
  }
}

const ed25519Point: Field = {
  shape: (bytes) => ensure(bytes.length === 32, "its Ed25519 key is not 32 bytes"),
  point: (bytes) => {
    const point = pointOf(() => ed25519.Point.fromBytes(bytes));
    ensure(point !== undefined, "its Ed25519 key is not a point of the curve");
    // Anybody can make signatures that verify under a point of small order.
    ensure(!point.isSmallOrder(), "its Ed25519 key is a point of small order");
  },
};

function curveName(curve: CurveName): Field {
  return {
    shape: (bytes) => ensure(String.fromCharCode(...bytes.subarray(0, 16)) === curve, `its curve is not ${curve}`),
  };
}

function ecPoint(curve: CurveName): Field {
  const { Point } = CURVES[curve];
  const length = 1 + 2 * Point.Fp.BYTES;
  return {
    shape: (bytes) => {
      ensure(bytes.length === length && bytes[0] === 4, `its point is not an uncompressed point of ${length} bytes`);
    },
    point: (bytes) =>
      ensure(pointOf(() => Point.fromBytes(bytes)) !== undefined, `its point is not on the curve ${curve}`),
  };
}

/** Bits of an mpint (RFC 4251 section 5) that must be positive and in its one shortest form; zero has none. */
function mpintBits(bytes: Uint8Array, what: string): number {
  const [first, second] = bytes;
  if (first === undefined) return 0;
  ensure(first < 0x80, `its RSA ${what} is negative`);
  if (first > 0) return (bytes.length - 1) * 8 + 32 - Math.clz32(first);
  ensure(second !== undefined && second >= 0x80, `its RSA ${what} has needless zeros in front`);
  return (bytes.length - 1) * 8;
}

const isOdd = (bytes: Uint8Array) => ((bytes.at(-1) ?? 0) & 1) === 1;

const rsaExponent: Field = {
  shape: (bytes) => {
    const bits = mpintBits(bytes, "exponent");
    ensure(bits >= 2, "its RSA exponent is less than 3");
    ensure(bits <= MAX_EXPONENT_BITS, `its RSA exponent has more than ${MAX_EXPONENT_BITS} bits`);
    ensure(isOdd(bytes), "its RSA exponent is even");
  },
};

const rsaModulus: Field = {
  shape: (bytes) => {
    const bits = mpintBits(bytes, "modulus");
    ensure(bits >= MIN_RSA_BITS, `its RSA modulus has ${bits} bits, fewer than ${MIN_RSA_BITS}`);
    ensure(bits <= MAX_RSA_BITS, `its RSA modulus has ${bits} bits, more than ${MAX_RSA_BITS}`);
    ensure(isOdd(bytes), "its RSA modulus is even");
  },
};

/** What a security key (sk- types) was asked to make the key for; OpenSSH's begin with "ssh:". */
const application: Field = {
  shape: (bytes) => {
    ensure(bytes.length > 0, "its security key application is empty");
    ensure(bytes.length <= 255, "its security key application is longer than 255 bytes");
    const text = String.fromCharCode(...bytes);
    ensure(text.startsWith("ssh:"), 'its security key application does not start with "ssh:"');
    ensure(isPrintable(text), "its security key application has characters other than printable ASCII");
  },
};

function keyType(name: string, label: string, fields: readonly Field[]): KeyType {
  const [base, vendor] = name.split("@");
  return { name, label, fields, certificateName: `${base}-cert-v01@${vendor ?? "openssh.com"}` };
}

/** Every key type a certificate is made for, with the fields of its blob in order (PROTOCOL.certkeys, PROTOCOL.u2f). */
export const KEY_TYPES: readonly KeyType[] = [
  keyType("ssh-ed25519", "ED25519", [ed25519Point]),
  keyType("ssh-rsa", "RSA", [rsaExponent, rsaModulus]),
  keyType("ecdsa-sha2-nistp256", "ECDSA", [curveName("nistp256"), ecPoint("nistp256")]),
  keyType("ecdsa-sha2-nistp384", "ECDSA", [curveName("nistp384"), ecPoint("nistp384")]),
  keyType("ecdsa-sha2-nistp521", "ECDSA", [curveName("nistp521"), ecPoint("nistp521")]),
  keyType("sk-ssh-ed25519@openssh.com", "ED25519-SK", [ed25519Point, application]),
  keyType("sk-ecdsa-sha2-nistp256@openssh.com", "ECDSA-SK", [curveName("nistp256"), ecPoint("nistp256"), application]),
];

const BY_NAME = new Map(KEY_TYPES.map((type) => [type.name, type]));
const BY_CERTIFICATE_NAME = new Map(KEY_TYPES.map((type) => [type.certificateName, type]));

/** The key type of that name, or undefined when it is not one we accept. */
export function keyTypeNamed(name: string): KeyType | undefined {
  return BY_NAME.get(name);
}

/** The key type whose certificates have that type name, or undefined. */
export function keyTypeOfCertificate(certificateName: string): KeyType | undefined {
  return BY_CERTIFICATE_NAME.get(certificateName);
}

/** Reads past the key's own fields and judges them. Throws a FormatError with the reason. */
export function readKeyFields(type: KeyType, reader: Reader, depth: Depth): void {
  for (const field of type.fields) {
    const bytes = reader.string();
    field.shape(bytes);
    if (depth === "full") field.point?.(bytes);
  }
}

/** Judges the bytes of an ed25519 public key (not its blob). Throws a FormatError. */
export function checkEd25519Point(bytes: Uint8Array): void {
  ed25519Point.shape(bytes);
  ed25519Point.point?.(bytes);
}
