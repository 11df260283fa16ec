import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type Command, CommanderError } from "commander";
import { buildProgram, type Invocation } from "../../admin/commands/syntax/program.ts";
import type { Stdio } from "../../admin/commands/stdio.ts";
import { run } from "./bench.ts";

const silent: Stdio = {
  out: () => Promise.resolve(),
  err: () => Promise.resolve(),
  readAll: () => Promise.resolve(""),
  readLine: () => Promise.resolve(null),
  isTerminal: false,
  outIsTerminal: false,
  errIsTerminal: false,
  outBytes: () => Promise.resolve(true),
  input: () => new ReadableStream(),
};

const newInvocation = (): Invocation => ({ stdio: silent, env: () => undefined, out: "", err: "", exitCode: 0 });

function commandPaths(command: Command, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((inner) => commandPaths(inner, [...path, inner.name()]))];
}

async function helpOf(path: readonly string[]): Promise<string> {
  const invocation = newInvocation();
  const parsing = buildProgram(invocation).parseAsync([...path, "--help"], { from: "user" });
  await assert.rejects(parsing, (error) => error instanceof CommanderError && error.exitCode === 0);
  return invocation.out;
}

Deno.test("every help text ends with one example of its own command", async () => {
  const paths = commandPaths(buildProgram(newInvocation()));
  assert(paths.length > 35, `only ${paths.length} commands`);
  for (const path of paths) {
    const help = await helpOf(path);
    const example = /\nExample:\n {2}([^\n]+)\n$/.exec(help)?.[1] ?? "";
    assert(example.startsWith("orgpods "), `${path.join(" ")}:\n${help}`);
    assert.equal(help.split("Example").length, 2, path.join(" "));
    assert(example.includes(path.join(" ")), `${path.join(" ")}: ${example}`);
  }
});

Deno.test("every example is a command line that the program takes", async () => {
  const program = buildProgram(newInvocation());
  for (const path of commandPaths(program)) {
    const [, example] = /\nExample:\n {2}orgpods ([^\n]+)\n$/.exec(await helpOf(path))!;
    const words = example!.replace(/ [<>] .*$/, "").match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""));
    const invocation = newInvocation();
    const checked = buildProgram(invocation);
    let taken = 0;
    for (const command of allCommands(checked)) command.action(() => void taken++);
    await checked.parseAsync(words, { from: "user" });
    assert.equal(taken, 1, example);
  }
});

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((inner) => [inner, ...allCommands(inner)]);
}

const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ["pod lst", /unknown command 'lst'\n\(Did you mean list\?\)/],
  ["pod list --jsn", /unknown option '--jsn'\n\(Did you mean --json\?\)/],
  ["version now", /too many arguments for 'version'/],
  ["pod access x --public --private", /'--public' cannot be used with option '--private'/],
  ["pod create --cloud moon", /Allowed choices are community, secure/],
  ["pod create --vcpus two", /must be a whole number/],
  ["--data-dir= org list", /'--data-dir <path>' argument '' is invalid\. It must not be empty/],
  ["serve --port 70000", /whole number from 0 to 65535/],
  ["org add demo", /required option '--name <name>' not specified/],
  ["token issue --kind officer", /'--discord-id <id>' not specified/],
];

Deno.test("a mistake in the command line ends with 2, a sentence on stderr and nothing on stdout", async () => {
  for (const [line, sentence] of MISTAKES) {
    const done = await run(line.split(" "));
    assert.equal(done.code, 2, line);
    assert.equal(done.stdout, "", line);
    assert.match(done.stderr, sentence);
  }
});

Deno.test("a command line without a command shows the help on stderr and ends with 2", async () => {
  for (const args of [[], ["org", "secret"]]) {
    const done = await run(args);
    assert.equal(done.code, 2);
    assert.equal(done.stdout, "");
    assert.match(done.stderr, /^Usage: orgpods[\s\S]*Example:/);
  }
});

Deno.test("a secret that is given as an argument is not repeated", async () => {
  for (const args of [["org", "secret", "set", "demo", "runpod_api_key", "rpa_x1"], ["pod", "list", "--key=rpa_x1"]]) {
    const done = await run(args);
    assert.equal(done.code, 2);
    assert(!done.stderr.includes("rpa_x1"), done.stderr);
  }
});

Deno.test("version prints name and number, or JSON", async () => {
  assert.equal((await run(["version"])).stdout, "orgpods 0.1.0\n");
  assert.equal((await run(["--version"])).stdout, "orgpods 0.1.0\n");
  const json = JSON.parse((await run(["version", "--json"])).stdout);
  assert.deepEqual(json, { version: "0.1.0", deno: Deno.version.deno });
});

interface ModuleGraph {
  readonly roots: string[];
  readonly redirects: Record<string, string>;
  readonly modules: { specifier: string; dependencies?: { isDynamic?: boolean; code?: { specifier?: string } }[] }[];
}

Deno.test("main loads nothing of the server until a command needs it", async () => {
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  const info = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", main] }).output();
  const graph: ModuleGraph = JSON.parse(new TextDecoder().decode(info.stdout));
  const known = new Map(graph.modules.map((module) => [module.specifier, module.dependencies ?? []]));
  const loaded = new Set<string>();
  const visit = (named: string) => {
    const specifier = graph.redirects[named] ?? named;
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { isDynamic, code } of known.get(specifier) ?? []) {
      if (!isDynamic && code?.specifier !== undefined) visit(code.specifier);
    }
  };
  graph.roots.forEach(visit);
  const server = [...loaded].filter((name) => /\/server\/|\/db\//.test(name)).map((name) => name.split("/").at(-1))
    .sort();
  assert.deepEqual(server, ["errors.ts", "version.ts"]);
  const packages = [...loaded].filter((name) => name.startsWith("npm:"));
  assert.equal(packages.length, 1, packages.join(" "));
  assert.match(packages[0]!, /commander/);
});

Deno.test("a reader that goes away is no failure", async () => {
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  const script = `{ "${Deno.execPath()}" run -A --no-check "${main}" pod create --help; echo "code $?" >&2; } | true`;
  const done = await new Deno.Command("sh", { args: ["-c", script] }).output();
  assert.equal(new TextDecoder().decode(done.stderr), "code 0\n");
});

Deno.test("demo takes the setting for webhooks inside from the environment", async () => {
  const done = await run(["demo", "--port", "0"], { ORGPODS_WEBHOOKS_ALLOW_PRIVATE: "perhaps" });
  assert.equal(done.code, 2, done.stderr);
  assert.match(done.stderr, /^error: ORGPODS_WEBHOOKS_ALLOW_PRIVATE must be true or false$/m);
});
