import assert from "node:assert/strict";
import { fromBase64, Reader, sameBytes, toBase64, Writer } from "../../server/ssh/wire.ts";

const refusal = (reason: string | RegExp) => ({ name: "FormatError", message: reason });

Deno.test("Writer writes lengths and numbers big-endian", () => {
  const bytes = new Writer().u32(0xfffefdfc).u64(0x0102030405060708n).string("ab").string(Uint8Array.of(255)).raw(
    Uint8Array.of(9),
  ).bytes();
  assert.deepEqual([...bytes], [255, 254, 253, 252, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 2, 97, 98, 0, 0, 0, 1, 255, 9]);
});

Deno.test("Writer.u64 refuses what does not fit instead of wrapping", () => {
  assert.deepEqual([...new Writer().u64(2n ** 64n - 1n).bytes()], new Array(8).fill(255));
  assert.throws(() => new Writer().u64(2n ** 64n), RangeError);
  assert.throws(() => new Writer().u64(-1n), RangeError);
});

Deno.test("Writer.string refuses text that is not ASCII", () => {
  assert.throws(() => new Writer().string("é"), RangeError);
});

Deno.test("Reader reads back what Writer wrote, also from the middle of a buffer", () => {
  const bytes = new Writer().u32(7).string("key id").u64(2n ** 63n).string(Uint8Array.of(1, 2)).bytes();
  const larger = Uint8Array.of(99, ...bytes, 99);
  const reader = new Reader(larger.subarray(1, 1 + bytes.length));
  assert.equal(reader.u32(), 7);
  assert.equal(reader.text("it"), "key id");
  assert.equal(reader.u64(), 2n ** 63n);
  assert.equal(reader.atEnd, false);
  assert.throws(() => reader.end("the key"), refusal("there are bytes after the last field of the key"));
  assert.deepEqual([...reader.string()], [1, 2]);
  assert.equal(reader.offset, bytes.length);
  reader.end("the key");
});

Deno.test("Reader throws its own error when the bytes end early", () => {
  const reads: ((reader: Reader) => unknown)[] = [(r) => r.u32(), (r) => r.u64(), (r) => r.string(), (r) => r.raw(4)];
  for (const read of reads) {
    for (const bytes of [[], [0, 0, 0], [255, 255, 255]]) {
      assert.throws(() => read(new Reader(Uint8Array.from(bytes))), refusal("it is cut off"));
    }
  }
  for (const length of [[0, 0, 0, 2], [127, 255, 255, 255], [255, 255, 255, 255]]) {
    assert.throws(() => new Reader(Uint8Array.of(...length, 1)).string(), refusal("it is cut off"));
  }
});

Deno.test("Reader.text refuses bytes outside printable ASCII", () => {
  assert.equal(new Reader(new Writer().string(" ~").bytes()).text("it"), " ~");
  for (const byte of [0, 10, 31, 127, 128, 255]) {
    const reader = new Reader(new Writer().string(Uint8Array.of(97, byte)).bytes());
    assert.throws(() => reader.text("its key id"), refusal("its key id has characters other than printable ASCII"));
  }
});

Deno.test("fromBase64 accepts one text for each value", () => {
  for (let length = 1; length < 9; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => 250 - index);
    assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
  }
  for (const text of ["", " ", "AA A", "AAA*", "AA-_", "A===", "=AAA", "AA=A", "AAAA\n"]) {
    assert.throws(() => fromBase64(text), refusal(/malformed/), text);
  }
  for (const text of ["AAA", "AA", "A", "AAAAA", "AB==", "AAB=", "AAAA="]) {
    assert.throws(() => fromBase64(text), refusal(/not canonical/), text);
  }
});

Deno.test("sameBytes compares length and content", () => {
  assert.equal(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2)), true);
  assert.equal(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)), false);
  assert.equal(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3)), false);
  assert.equal(sameBytes(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2)), false);
});
