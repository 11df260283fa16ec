import assert from "node:assert/strict";
import { generateKeyPair, publicLine } from "../../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../../server/ssh/public_key.ts";
import { lacks } from "../../support/needs.ts";
import { withDir } from "../keygen.ts";
import { certificateOf } from "../krl_support.ts";
import { strings } from "./bytes.ts";
import { certificateJudges, keyJudges } from "./judge_lines.ts";
import { certificateLine, signed, unsigned } from "./make_certificates.ts";
import { fuzzOne, type Target } from "./run.ts";
import { accepted, refused } from "./verdict.ts";

const ignore = lacks("ssh-keygen");

Deno.test({
  name: "the fuzz program finds nothing in its first cases, and keeps within the memory it is given",
  ignore,
  async fn() {
    // Among these is a list of four megabytes that names a million nothings. A heap over its limit ends the process.
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", "--v8-flags=--max-old-space-size=512"],
        ...[`${import.meta.dirname}/main.ts`, "--cases", "150", "--seed", "4830"],
      ],
    }).output();
    const said = new TextDecoder().decode(stdout);
    assert.equal(code, 0, said + new TextDecoder().decode(stderr));
    for (const kind of ["keys", "certificates", "krl", "private_keys"]) {
      const [, taken = "", compared = ""] =
        new RegExp(`^${kind}: 150 cases, (\\d+) accepted, (\\d+) judged`, "m").exec(said) ?? [];
      assert.ok(Number(taken) > 10 && Number(taken) < 140, said);
      assert.ok(Number(compared) > 0, said);
    }
    assert.match(said, /^0 findings/m);
  },
});

const line = publicLine(generateKeyPair().publicKey, "ann");
const keyTarget = (change: Partial<Target<string>["judges"]>): Target<string> => ({
  judges: { ...keyJudges, ...change },
  make: () => ({ input: line, isGood: true }),
  every: 1,
  batch: 2,
});

Deno.test("fuzzOne reports a parser that throws another error, with the seed and the input", () => {
  const { findings } = fuzzOne(keyTarget({ ours: () => new Uint8Array(-1) as never }), { cases: 2, seed: 40 });
  assert.deepEqual(findings.map(({ seed, input }) => [seed, input]), [[40, line], [41, line]]);
  assert.match(findings[0]!.what, /^our parser throws something else: RangeError/);
});

Deno.test("fuzzOne reports a refusal of what our own writer made", () => {
  const { findings } = fuzzOne(keyTarget({ ours: () => refused("it is cut off") }), { cases: 1, seed: 1 });
  assert.equal(findings[0]?.what, "we refuse what we wrote: it is cut off");
});

Deno.test({
  name: "fuzzOne reports where ssh-keygen refuses, reads something else, or accepts what no row allows to refuse",
  ignore,
  fn: () =>
    withDir((dir) => {
      const found = (target: Target<string>) => fuzzOne(target, { cases: 1, seed: 1, dir }).findings[0]?.what ?? "";
      assert.equal(found(keyTarget({})), "");
      assert.match(found(keyTarget({ ours: () => accepted("SHA256:other ED25519") })), /^we read:\nSHA256:other/);
      assert.match(
        found({ ...keyTarget({ ours: () => refused("it is cut off") }), make: () => ({ input: line, isGood: false }) }),
        /^ssh-keygen accepts, we refuse without a row .*: it is cut off$/,
      );
      const broken = () => ({ input: line.slice(0, -20), isGood: true });
      assert.match(
        found({ ...keyTarget({ ours: () => accepted("x") }), make: broken }),
        /^we accept, ssh-keygen refuses/,
      );
    }),
});

Deno.test({
  name: "ssh-keygen's verdicts on many lines are each for its own line, also when one of them ends it",
  ignore,
  fn: () =>
    withDir((dir) => {
      const other = publicLine(generateKeyPair().publicKey, "");
      const keys = [line, "nonsense", `${other} @0 (RSA)`, `${line} # x`, `${other}\n`, ""];
      const print = (text: string) => `${parsePublicKey(text).fingerprint} ED25519`;
      assert.deepEqual(
        keyJudges.theirs(dir, keys).map((verdict) => verdict.accepts ? verdict.says : null),
        [print(line), null, print(other), print(line), print(other), null],
      );
      const ending = certificateLine(signed(unsigned({ extensions: strings("permit-pty", strings("x")) })));
      const [first, last] = [certificateOf(5n), certificateOf(6n)];
      const verdicts = certificateJudges.theirs(dir, [first, ending, first, "x", last]);
      assert.deepEqual(verdicts.map(({ accepts }) => accepts), [true, false, true, false, true]);
      assert.match(JSON.stringify(verdicts[4]), /Serial: 6\\n/);
    }),
});
