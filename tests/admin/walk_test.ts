/** Short walks through the admin; `deno task walk` takes the long ones. */
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { startProgram } from "../support/process.ts";

/** Far above what a short walk takes. */
const DEADLINE_MS = 300_000;

/** Each walk is a program of its own: it changes its folder and its environment, and looks for stray rejections. */
async function walk(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = startProgram("tests/admin/walk/main.ts", { args });
  try {
    const { code } = await program.ended(DEADLINE_MS);
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  } finally {
    await program.close();
  }
}

async function mustWalk(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await walk(...args);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  assert.match(stdout, /All walks ended well/);
}

for (const seed of ["11", "12", "13"]) {
  Deno.test(`a walk of 150 keys led by chance (${seed}) neither breaks nor hangs the admin, and its terminal stays whole`, () =>
    mustWalk("--seed", seed, "--keys", "150"));
}

Deno.test({
  name: "a walk of 150 keys through the real program leaves the terminal whole",
  ignore: lacks("tmux", "stty"),
  fn: () => mustWalk("--tmux", "--seed", "14", "--keys", "150"),
});

Deno.test("the walk refuses what it does not understand", async () => {
  const { code, stdout, stderr } = await walk("--seed", "1", "--keys", "x");
  assert.equal(code, 2);
  assert.equal(stdout, "");
  assert.match(stderr, /--keys a number: 1 x/);
});
