import assert from "node:assert/strict";
import { AppError } from "../../server/errors.ts";
import { createKeyReader } from "../../server/ssh/key_reader.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";

const newLine = () => publicLine(generateKeyPair().publicKey, "");

Deno.test("createKeyReader reads what parsePublicKey reads and remembers it by its exact text", () => {
  const read = createKeyReader();
  const line = newLine();
  const key = read(line);
  assert.deepEqual(key, parsePublicKey(line));
  assert.equal(read(line), key);
  const commented = read(`${line} laptop`);
  assert.equal(commented.comment, "laptop");
  assert.equal(read(line).comment, "");
});

Deno.test("createKeyReader forgets the key that was used longest ago when there are too many", () => {
  const read = createKeyReader(2);
  const [a, b, c] = [newLine(), newLine(), newLine()];
  const [first, second] = [read(a), read(b)];
  assert.equal(read(a), first);
  read(c);
  assert.equal(read(a), first, "used after the second");
  assert.notEqual(read(b), second);
});

Deno.test("createKeyReader refuses bad keys each time and remembers nothing of them", () => {
  const read = createKeyReader(1);
  const line = newLine();
  const key = read(line);
  for (const bad of ["", "ssh-ed25519 AAAA", 7, null, "ssh-ed25519 AAAA"]) {
    assert.throws(() => read(bad), (error) => error instanceof AppError && error.code === "invalid_request");
  }
  assert.equal(read(line), key);
});
