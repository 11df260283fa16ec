import assert from "node:assert/strict";
import { keysInEnv, keysInLines, type OrgPublicKeys, withKeys } from "../../server/key_rotation/env_keys.ts";
import { differencesOf } from "../../server/key_rotation/differences.ts";
import { parseLook } from "../../server/key_rotation/look.ts";

const line = (letter: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${letter.repeat(43)} platform-backend-1`;
const key = (letter: string) => ({ public_key: line(letter), fingerprint: `SHA256:${letter}` });
const KEYS: OrgPublicKeys = { backend: [key("a"), key("b")], user_ca: [key("c"), key("d")] };
const env = (backend: string, ca: string) => ({
  WORD: "secret",
  GODFATHER_SSH_PUBLIC_KEY: backend,
  GODFATHER_SSH_CA_PUBLIC_KEY: ca,
});

Deno.test("keysInEnv tells which of the org's keys an env holds, whatever the comments are", () => {
  assert.deepEqual(keysInEnv(env(line("a"), line("d")), KEYS), { backend: "SHA256:a", user_ca: "SHA256:d" });
  const bare = line("b").split(" ").slice(0, 2).join(" ");
  assert.deepEqual(keysInEnv(env(`  ${bare}  other comment`, `${line("c")}\nsecond line`), KEYS), {
    backend: "SHA256:b",
    user_ca: "SHA256:c",
  });
});

Deno.test("keysInEnv says other for a key that the org never had or that is of the other kind, and none for no key", () => {
  assert.deepEqual(keysInEnv(env(line("x"), line("a")), KEYS), { backend: "other", user_ca: "other" });
  assert.deepEqual(keysInEnv({ GODFATHER_SSH_PUBLIC_KEY: " " }, KEYS), { backend: "none", user_ca: "none" });
});

Deno.test("withKeys changes the two keys and nothing else, and gives null when they are there", () => {
  const wanted = { backend: line("b"), user_ca: line("d") };
  assert.deepEqual(withKeys(env(line("a"), line("d")), wanted), env(line("b"), line("d")));
  assert.deepEqual(withKeys({ WORD: "secret" }, wanted), env(line("b"), line("d")));
  assert.equal(withKeys(env(`${line("b")} and more`, line("d")), wanted), null);
});

Deno.test("keysInLines finds keys behind options and leaves comments and other keys out", () => {
  const lines = [`# ${line("a")}`, "", `from="10.0.0.0/8",no-pty ${line("b")}`, line("x"), line("b")];
  assert.deepEqual(keysInLines(lines, KEYS.backend), ["SHA256:b"]);
});

Deno.test("parseLook tells the files apart and takes no answer that was cut", () => {
  const text = `backend ${line("a")}\nbackend ${line("b")}\nuser_ca ${line("c")}\nend\n`;
  assert.deepEqual(parseLook(text, KEYS), { backend: ["SHA256:a", "SHA256:b"], user_ca: ["SHA256:c"] });
  assert.deepEqual(parseLook("end\n", KEYS), { backend: [], user_ca: [] });
  assert.equal(parseLook(text.replace("end\n", ""), KEYS), null);
});

Deno.test("differencesOf tells an image and args that were not asked for, and judges no adopted pod", () => {
  const config = JSON.stringify({ image_name: "image:1" });
  assert.deepEqual(differencesOf(config, { image: "image:1", args: "" }), []);
  assert.deepEqual(differencesOf(config, { image: null, args: null }), []);
  assert.deepEqual(differencesOf(config, { image: "image:2", args: "bash" }), ["image", "args"]);
  assert.deepEqual(differencesOf(JSON.stringify({ image_name: "x", adopted: true }), { image: "y", args: "z" }), []);
});
