import assert from "node:assert/strict";
import { fromBase64 } from "../../server/ssh/wire.ts";
import { lacks } from "../support/needs.ts";
import { join } from "./fuzz/bytes.ts";
import { certificateJudges, keyJudges } from "./fuzz/judge_lines.ts";
import { krlJudges } from "./fuzz/judge_krl.ts";
import { privateKeyJudges } from "./fuzz/judge_private_keys.ts";
import { disagreement, type Judges, type Kind, rowOf, stricter, type Verdict } from "./fuzz/verdict.ts";
import { rows, withDir } from "./keygen.ts";

interface Vector<Input> {
  readonly name: string;
  readonly input: Input;
}
/** A row of `openssh/*.jsonl`: `reason` is ours, null when we accept. */
interface Row {
  readonly name: string;
  readonly input: string;
  /** Of a list: zeros that follow. */
  readonly zeros?: number;
  readonly reason: string | null;
  readonly ssh_keygen: "accepts" | "refuses";
}
const bytesOf = ({ input, zeros = 0 }: { readonly input: string; readonly zeros?: number }) =>
  join(input === "" ? new Uint8Array() : fromBase64(input), new Uint8Array(zeros));

const texts = (kind: Kind, paths: readonly string[], field: string): Vector<string>[] => [
  ...paths.flatMap((path) => rows<Record<string, string>>(path)).map((row) => ({
    name: row.name!,
    input: row[field]!,
  })),
  ...rows<Row>(`openssh/${kind}.jsonl`),
];
const keyVectors = texts("keys", ["keys/accepted.jsonl", "keys/refused.jsonl"], "text");
const certificateVectors = texts("certificates", ["certificates/accepted.jsonl", "certificates/refused.jsonl"], "line");
const krlVectors = texts("krl", ["krl/accepted.jsonl", "krl/refused.jsonl"], "krl")
  .map((row) => ({ name: row.name, input: bytesOf(row) }));
const privateKeyVectors = texts("private_keys", [], "");

/** Rows of the table that some vector fell under. */
const used = new Set<string>();

async function judgeAll<Input>(
  { kind, ours, theirs }: Judges<Input>,
  vectors: readonly Vector<Input>[],
): Promise<void> {
  await withDir((dir) => {
    const verdicts = theirs(dir, vectors.map(({ input }) => input));
    const wrong = vectors.flatMap(({ name, input }, at) => {
      const [our, their] = [ours(input), verdicts[at]!];
      if (!our.accepts && their.accepts) used.add(rowOf(kind, our.reason) ?? "");
      const difference = disagreement(kind, our, their);
      return difference === undefined ? [] : [`${name}: ${difference}`];
    });
    assert.deepEqual(wrong, []);
  });
}

Deno.test({
  name: "our parsers and ssh-keygen judge every vector alike, or as the table of stricter rules says",
  ignore: lacks("ssh-keygen"),
  async fn() {
    await judgeAll(keyJudges, keyVectors);
    await judgeAll(certificateJudges, certificateVectors);
    await judgeAll(krlJudges, krlVectors);
    await judgeAll(privateKeyJudges, privateKeyVectors);
    const listed = Object.values(stricter).flatMap((reasons) => Object.keys(reasons));
    assert.deepEqual(listed.filter((reason) => !used.has(reason)), [], "rows that no vector needs");
  },
});

const judges = { keys: keyJudges, certificates: certificateJudges, private_keys: privateKeyJudges } as const;
for (const kind of ["keys", "certificates", "krl", "private_keys"] as const) {
  Deno.test(`our parsers judge the vectors of openssh/${kind}.jsonl as they say`, () => {
    for (const row of rows<Row>(`openssh/${kind}.jsonl`)) {
      const { name, input, reason } = row;
      const verdict: Verdict = kind === "krl" ? krlJudges.ours(bytesOf(row)) : judges[kind].ours(input);
      assert.equal(verdict.accepts ? null : verdict.reason, reason, name);
    }
  });
}
