/** The published client `godfather-cli`, installed as members install it, and a member's computer with it. */
import assert from "node:assert/strict";
import { run, withFolder } from "../demo/pods_support.ts";
import { type DemoProcess, withDemo } from "./demo_process.ts";
import { type Played, playOnTerminal, type Step } from "./pty.ts";

const CLIENT_VERSION = "2.1.0";

/**
 * The client's program, or null with a line that says why when it cannot be installed here (no network, no python3-venv).
 * With ORGPODS_TEST_REQUIRE=all that is a failure.
 */
export async function clientIfPossible(): Promise<string | null> {
  try {
    return await installedClient();
  } catch (error) {
    if (!(error instanceof InstallError) || Deno.env.get("ORGPODS_TEST_REQUIRE") === "all") throw error;
    console.error(`skipped: godfather-cli ${CLIENT_VERSION} cannot be installed: ${error.message}`);
    return null;
  }
}

class InstallError extends Error {}

/**
 * Installs the client into a virtual environment that all test runs share, and gives the path of its program. The folder is
 * the one ORGPODS_TEST_VENV names, else one below the system's temporary folder; a lock keeps two runs from making it at once.
 */
async function installedClient(): Promise<string> {
  const shared = `${Deno.env.get("TMPDIR") ?? "/tmp"}/orgpods-test-venv-${Deno.uid()}`;
  const folder = Deno.env.get("ORGPODS_TEST_VENV") ?? shared;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const owner = await Deno.lstat(folder);
  if (!owner.isDirectory || owner.uid !== Deno.uid()) throw new Error(`${folder} belongs to somebody else`);
  const venv = `${folder}/godfather-${CLIENT_VERSION}`;
  const program = `${venv}/bin/godfather`;
  using lock = await Deno.open(`${folder}/lock`, { create: true, write: true });
  await lock.lock(true);
  // The note is written last: an installation that was broken off is made again.
  const note = `${venv}/orgpods-test-complete`;
  if (await exists(note)) return program;
  if (await exists(venv)) await Deno.remove(venv, { recursive: true });
  await must("python3", "-m", "venv", venv);
  await must(`${venv}/bin/python`, "-m", "pip", "install", "--quiet", `godfather-cli==${CLIENT_VERSION}`);
  await Deno.writeTextFile(note, "");
  return program;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function must(program: string, ...args: string[]): Promise<void> {
  const { code, out, err } = await run(program, args);
  if (code !== 0) throw new InstallError(`${program} ${args.join(" ")} ended with ${code}: ${out}${err}`);
}

export interface Computer {
  readonly home: string;
  /** Runs `godfather` on a terminal. */
  godfather(args: readonly string[], ...steps: Step[]): Promise<Played>;
  /** The addresses the client opened in the browser, in order. */
  opened(): Promise<string[]>;
  /** What the client keeps. */
  config(): Promise<Record<string, string>>;
}

/** A computer with an empty home folder and a browser that only notes what it was to open. */
async function newComputer(program: string, home: string): Promise<Computer> {
  await Deno.mkdir(home, { mode: 0o700 });
  const browser = `${home}/browser`;
  await Deno.writeTextFile(browser, `#!/bin/sh\nprintf '%s\\n' "$1" >>'${home}/opened'\n`, { mode: 0o700 });
  // ssh finds the settings of its user by the account, not by HOME: they are this machine's, and are kept out.
  const path = Deno.env.get("PATH") ?? "/usr/bin:/bin";
  const ssh = `#!/bin/sh\nPATH='${path}'\nexport PATH\nexec ssh -F /dev/null "$@"\n`;
  await Deno.mkdir(`${home}/bin`);
  await Deno.writeTextFile(`${home}/bin/ssh`, ssh, { mode: 0o700 });
  const env = {
    HOME: home,
    PATH: `${home}/bin:${path}`,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    BROWSER: `${browser} %s`,
    // Nobody listens there, so the question to PyPI for a newer version fails at once and leaves this machine alone.
    https_proxy: "http://127.0.0.1:1",
  };
  return {
    home,
    godfather: (args, ...steps) => playOnTerminal([program, ...args], { env, cwd: home, steps }),
    opened: async () => (await Deno.readTextFile(`${home}/opened`)).trim().split("\n"),
    config: async () => JSON.parse(await Deno.readTextFile(`${home}/.godfather/config.json`)),
  };
}

/** A demo, and a computer on which nobody has logged in yet; `program` is what `clientIfPossible` gave. */
export async function withComputer(
  program: string | null,
  use: (demo: DemoProcess, computer: Computer) => Promise<void>,
): Promise<void> {
  if (program === null) throw new Error("The client is not installed");
  await withFolder((folder) => withDemo(async (demo) => use(demo, await newComputer(program, `${folder}/home`))));
}

/** A token is asked for, and pasted. */
export function paste(token: string): Step {
  return { expect: "Token: ?", send: `${token}\r`, hidden: true };
}

/** A line is typed at the prompt of a shell on the pod. */
export function type(line: string): Step {
  return { expect: "[$#] $", send: `${line}\r` };
}

/** Logs in with a token; the client keeps the server and the org from then on. */
export async function logIn(demo: DemoProcess, computer: Computer, token: string): Promise<void> {
  const { url, org } = demo.facts;
  assertSays(await computer.godfather(["auth", "--api-url", url, "--org", org], paste(token)), `✓ Logged in to ${org}`);
}

/** What the client adds to a 403. */
export const ASK_OFFICER = "Ask an officer to share the pod with you, or rejoin the Discord server.";

/** The client ends with 0 whatever happened; what it says comes after its spinner, as whole lines. */
export function assertSays({ code, text }: Played, ...lines: string[]): void {
  assert.equal(code, 0);
  for (const line of lines) assert.ok(text.split(/[\r\n]+/).includes(line), `${line} is not in:\n${text}`);
}
