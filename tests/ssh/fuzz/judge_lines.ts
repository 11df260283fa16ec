/** Public keys and certificates as lines, judged by `ssh-keygen -l` and `-L`, many in one call. */
import { Buffer } from "node:buffer";
import { describeCertificate, parseCertificate, type ParsedCertificate } from "../../../server/ssh/certificate.ts";
import { KEY_TYPES } from "../../../server/ssh/key_types.ts";
import { parsePublicKey } from "../../../server/ssh/public_key.ts";
import { Writer } from "../../../server/ssh/wire.ts";
import { keygen } from "../keygen.ts";
import { accepted, type Judges, refused, type Verdict, verdictOf } from "./verdict.ts";

const LABELS = new Map(KEY_TYPES.map(({ name, label }) => [name, label]));

export const keyJudges: Judges<string> = {
  kind: "keys",
  ours: (text) =>
    verdictOf("A valid SSH public key is required", () => {
      const { fingerprint, type } = parsePublicKey(text);
      return `${fingerprint} ${LABELS.get(type)}`;
    }),
  theirs: (dir, texts) => eachLine(texts, (lines) => fingerprints(dir, lines)),
};

export const certificateJudges: Judges<string> = {
  kind: "certificates",
  ours: (line) =>
    verdictOf("A valid SSH certificate is required", () => {
      const certificate = parseCertificate(line);
      const text = describeCertificate(certificate).replace(/(\d\d:\d\d:\d\d)Z/g, "$1");
      return comparable(asOptions(text, certificate));
    }),
  theirs: (dir, texts) => eachLine(texts, (lines) => listings(dir, lines)),
};

/** Texts that one line of a file can hold are judged together, the others each alone. */
function eachLine(texts: readonly string[], judge: (texts: readonly string[]) => Verdict[]): Verdict[] {
  const isLine = (text: string) => !/[\n\0]|PRIVATE KEY|[ \t]#/.test(text);
  const together = judge(texts.filter(isLine)).values();
  return texts.map((text) => isLine(text) ? together.next().value! : judge([text])[0]!);
}

/** `ssh-keygen -lf`: a number in the comment tells which line an answer is for. */
function fingerprints(dir: string, texts: readonly string[]): Verdict[] {
  const path = `${dir}/judged.pub`;
  const isAlone = texts.length === 1;
  Deno.writeTextFileSync(path, texts.map((text, at) => isAlone ? `${text}\n` : `${text} @${at}\n`).join(""));
  const { stdout, stderr } = keygen("-lf", path);
  const verdicts: Verdict[] = texts.map(() => refused(stderr.trim()));
  for (const line of stdout.split("\n")) {
    const [, print, at = isAlone ? "0" : undefined, label] =
      /^\d+ (SHA256:\S+) .*?(?:@(\d+) )?\(([A-Z0-9-]+)\)$/s.exec(line) ?? [];
    if (print === undefined) continue;
    if (at === undefined) throw new Error(`ssh-keygen -l does not show the number of its line: ${line}`);
    verdicts[Number(at)] = accepted(`${print} ${label}`);
  }
  return verdicts;
}

/** `ssh-keygen -Lf`: answers carry the number of their line. A fault in options ends it, so the two halves go again. */
function listings(dir: string, texts: readonly string[]): Verdict[] {
  const path = `${dir}/judged.pub`;
  Deno.writeTextFileSync(path, texts.map((text) => `${text}\n`).join(""));
  const { ok, code, stdout, stderr } = keygen("-Lf", path);
  if (code === 255 && texts.length > 1) {
    const middle = texts.length >> 1;
    return [...listings(dir, texts.slice(0, middle)), ...listings(dir, texts.slice(middle))];
  }
  const verdicts: Verdict[] = texts.map(() => refused(stderr.trim()));
  if (!ok) return verdicts;
  const parts = stdout.split(/^.*\/judged\.pub:(?:(\d+):)?\n/m);
  for (let at = 1; at < parts.length; at += 2) {
    verdicts[Number(parts[at] ?? 1) - 1] = accepted(comparable(parts[at + 1]!));
  }
  return verdicts;
}

/** Years beyond 9999 are written by each program in its own way. */
const comparable = (listing: string): string =>
  listing.replace(/^( +Valid: ).*(?:second \d+|[+-]?\d{5,}-\d\d-\d\d).*$/m, "$1beyond the calendar").replace(
    / +$/gm,
    "",
  );

const KNOWN_FLAGS = /^(?:permit-(?:X11-forwarding|agent-forwarding|port-forwarding|pty|user-rc)|no-touch-required)$/;
const KNOWN_CRITICAL = /^(?:force-command|source-address|verify-required)$/;

/** The listing with the options that ssh-keygen does not know as it shows them: their bytes in hex. */
function asOptions(listing: string, { criticalOptions, extensions }: ParsedCertificate): string {
  const shown = (isKnown: RegExp, options: ReadonlyMap<string, string>) =>
    [...options].map(([name, value]) => {
      if (isKnown.test(name)) return value === "" ? name : `${name} ${value}`;
      if (value === "") return `${name} UNKNOWN FLAG OPTION`;
      const data = new Writer().string(value).bytes();
      return `${name} UNKNOWN OPTION: ${Buffer.from(data).toString("hex")} (len ${data.length})`;
    }).map((line) => `\n                ${line}`).join("") || "(none)";
  const head = listing.slice(0, listing.indexOf("        Critical Options:"));
  return `${head}        Critical Options: ${shown(KNOWN_CRITICAL, criticalOptions)}\n` +
    `        Extensions: ${shown(KNOWN_FLAGS, extensions)}\n`;
}
