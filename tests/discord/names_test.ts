import assert from "node:assert/strict";
import { plainName, shownName } from "../../server/discord/names.ts";
import { compareIds, isSnowflake } from "../../server/discord/snowflake.ts";

const names = { id: "220000000000000001", username: "nelly" };

Deno.test("shownName takes nick, then global name, then username", () => {
  assert.equal(shownName({ ...names, globalName: "Nelly", nick: "The Boss" }), "The Boss");
  assert.equal(shownName({ ...names, globalName: "Nelly", nick: null }), "Nelly");
  assert.equal(shownName({ ...names, globalName: null }), "nelly");
});

Deno.test("shownName passes over a name that shows nothing and ends with the id", () => {
  assert.equal(shownName({ ...names, globalName: "Nelly", nick: "\u3164\u200b" }), "Nelly");
  assert.equal(shownName({ id: names.id, username: "\u202e", nick: " " }), names.id);
});

Deno.test("plainName removes what drives a terminal or turns the writing", () => {
  const vectors = JSON.parse(Deno.readTextFileSync(new URL("../vectors/discord/names.json", import.meta.url)));
  for (const { why, text, plain } of vectors) assert.equal(plainName(text), plain, why);
});

Deno.test("plainName cuts by characters, not in the middle of one", () => {
  assert.equal(plainName("😀".repeat(200)), "😀".repeat(100));
});

Deno.test("isSnowflake takes 15 to 20 digits that fit 64 bits", () => {
  for (const id of ["123456789012345", "18446744073709551615"]) assert.equal(isSnowflake(id), true, id);
  for (
    const id of [
      "",
      "12345678901234",
      "18446744073709551616",
      "123456789012345678901",
      "12345678901234x",
      "１２３４５６７８９０１２３４５６",
    ]
  ) {
    assert.equal(isSnowflake(id), false, id);
  }
});

Deno.test("compareIds orders by value beyond what a number holds", () => {
  assert.equal(compareIds("9007199254740993", "9007199254740992"), 1);
  assert.equal(compareIds("99999999999999999", "100000000000000000"), -1);
  assert.equal(compareIds("100000000000000000", "100000000000000000"), 0);
});
