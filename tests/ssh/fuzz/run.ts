/** Makes inputs of every kind from a seed, has them judged by us, and a sample of them by ssh-keygen. */
import { toBase64 } from "../../../server/ssh/wire.ts";
import { seeded } from "../keygen.ts";
import type { Random } from "./bytes.ts";
import { certificateJudges, keyJudges } from "./judge_lines.ts";
import { krlJudges } from "./judge_krl.ts";
import { privateKeyJudges } from "./judge_private_keys.ts";
import { certificateText } from "./make_certificates.ts";
import { keyText } from "./make_keys.ts";
import { krlBytes } from "./make_krls.ts";
import { privateKeyText } from "./make_private_keys.ts";
import { disagreement, type Judges, type Kind, type Verdict } from "./verdict.ts";

/** An input; `isGood` marks one of our own writers, which must be accepted. */
export interface Case<Input> {
  readonly input: Input;
  readonly isGood: boolean;
}

export interface Target<Input> {
  readonly judges: Judges<Input>;
  readonly make: (random: Random) => Case<Input>;
  /** Of so many cases one goes to ssh-keygen. */
  readonly every: number;
  /** Inputs that ssh-keygen gets at a time. */
  readonly batch: number;
}

export interface Finding {
  readonly seed: number;
  /** The input as text, or its bytes in base64. */
  readonly input: string;
  readonly what: string;
}

export interface Options {
  readonly cases: number;
  readonly seed: number;
  /** For the files of ssh-keygen. */
  readonly dir?: string;
}

export interface Tally {
  readonly kind: Kind;
  cases: number;
  accepted: number;
  /** Judged by ssh-keygen too. */
  compared: number;
  readonly findings: Finding[];
}

// A list or a private key takes a process of its own, lines go together.
const targets = {
  keys: {
    judges: keyJudges,
    make: (random: Random) => ({ input: keyText(random), isGood: false }),
    every: 2,
    batch: 200,
  },
  certificates: { judges: certificateJudges, make: certificateText, every: 4, batch: 100 },
  krl: { judges: krlJudges, make: krlBytes, every: 20, batch: 1 },
  private_keys: { judges: privateKeyJudges, make: privateKeyText, every: 40, batch: 1 },
} as const;

/**
 * Kind after kind, `cases` inputs of each, counted when they are done. The same seed gives the same ones. Without `dir`,
 * ssh-keygen is not asked.
 */
export function* fuzz(options: Options): Generator<Tally> {
  yield fuzzOne(targets.keys, options);
  yield fuzzOne(targets.certificates, options);
  yield fuzzOne(targets.krl, options);
  yield fuzzOne(targets.private_keys, options);
}

/** `fuzz` for one kind. */
export function fuzzOne<Input extends string | Uint8Array>(
  { judges, make, every, batch }: Target<Input>,
  { cases, seed, dir }: Options,
): Tally {
  const tally: Tally = { kind: judges.kind, cases: 0, accepted: 0, compared: 0, findings: [] };
  const sample: { input: Input; ours: Verdict; seed: number }[] = [];
  const report = (input: Input, of: number, what: string) => {
    const text = typeof input === "string" ? input : toBase64(input);
    tally.findings.push({ seed: of, input: text, what });
  };
  const compare = (inDir: string) => {
    const verdicts = judges.theirs(inDir, sample.map(({ input }) => input));
    for (const [at, { input, ours, seed }] of sample.entries()) {
      const difference = disagreement(judges.kind, ours, verdicts[at]!);
      if (difference !== undefined) report(input, seed, difference);
    }
    tally.compared += sample.length;
    sample.length = 0;
  };
  for (let at = 0; at < cases; at++) {
    const ownSeed = seed + at;
    const random = seeded(ownSeed);
    const { input, isGood } = make(random);
    tally.cases++;
    let ours: Verdict;
    try {
      ours = judges.ours(input);
    } catch (error) {
      report(input, ownSeed, `our parser throws something else: ${error instanceof Error ? error.stack : error}`);
      continue;
    }
    if (ours.accepts) tally.accepted++;
    else if (isGood) report(input, ownSeed, `we refuse what we wrote: ${ours.reason}`);
    if (dir === undefined || random(every) > 0) continue;
    sample.push({ input, ours, seed: ownSeed });
    if (sample.length === batch) compare(dir);
  }
  if (dir !== undefined && sample.length > 0) compare(dir);
  return tally;
}
