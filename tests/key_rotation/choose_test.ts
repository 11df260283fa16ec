import assert from "node:assert/strict";
import { backendOrder, type KeyFacts, signingCa } from "../../server/key_rotation/choose.ts";

const facts = (change: Partial<KeyFacts> = {}): KeyFacts => ({
  current: "new",
  old: "old",
  files: null,
  startEnv: null,
  login: null,
  ...change,
});

const NEW_FIRST = { first: "new", other: "old" };
const OLD_FIRST = { first: "old", other: "new" };

const BACKEND: readonly (readonly [string, Partial<KeyFacts>, object])[] = [
  ["no rotation is open", { old: null, startEnv: "old", login: "old" }, { first: "new", other: null }],
  ["nothing is known of the start", {}, OLD_FIRST],
  ["the start began with the old env", { startEnv: "old" }, OLD_FIRST],
  ["the start began with the new env", { startEnv: "new" }, NEW_FIRST],
  ["the start began with a foreign key", { startEnv: "other" }, OLD_FIRST],
  ["its files have both", { files: ["new", "old"], startEnv: "old", login: "old" }, NEW_FIRST],
  ["its files have only the old", { files: ["old"], startEnv: "old" }, OLD_FIRST],
  ["the new one logged in, whatever the env was", { startEnv: "old", login: "new" }, NEW_FIRST],
  ["the old one logged in although the env is new", { startEnv: "new", login: "old" }, OLD_FIRST],
];

for (const [when, change, wanted] of BACKEND) {
  Deno.test(`backendOrder names the key to try first when ${when}`, () =>
    assert.deepEqual(backendOrder(facts(change)), wanted));
}

const CA: readonly (readonly [string, Partial<KeyFacts>, string])[] = [
  ["no rotation is open", { old: null, files: ["old"] }, "new"],
  ["nothing is known of the start", {}, "old"],
  ["the start began with the old env", { startEnv: "old" }, "old"],
  ["the start began with the new env", { startEnv: "new" }, "new"],
  ["its files have both", { files: ["old", "new"], startEnv: "old" }, "new"],
  ["its files have only the old, although the env is new", { files: ["old"], startEnv: "new" }, "old"],
  ["its files have none and the env was the old", { files: [], startEnv: "old" }, "old"],
  ["its files have none and the env was the new", { files: [], startEnv: "new" }, "new"],
];

for (const [when, change, wanted] of CA) {
  Deno.test(`signingCa names a CA that the pod trusts when ${when}`, () =>
    assert.equal(signingCa(facts(change)), wanted));
}
