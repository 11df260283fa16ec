import { checkTerm } from "./term/check.ts";

Deno.test("a simulated term of outages and kills ends with every session run or told, nothing twice, and its money, seed 2", async () => {
  await checkTerm(2);
});
