import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { run, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { type Finished, runProgram } from "../support/process.ts";
import { playOnTerminal } from "../support/pty.ts";

const TOKEN = `plat_${"t".repeat(43)}`;
const OTHER = `plat_${"o".repeat(43)}`;

interface Computer {
  readonly home: string;
  readonly url: string;
  readonly env: Record<string, string>;
  /** The tokens that came, in order. */
  readonly tokens: (string | null)[];
  orgpods(args: readonly string[], env?: Record<string, string>): Promise<Finished>;
  signIn(token?: string, org?: string): Promise<void>;
  read(path: string): Promise<string>;
}

/** An empty home folder, and a server that gives everybody the same pods. */
async function withComputer(
  use: (computer: Computer) => Promise<void>,
  pods = [{ id: "k7x2m9", name: "workshop", status: "RUNNING" }],
): Promise<void> {
  const tokens: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    tokens.push(request.headers.get("authorization")?.replace("Bearer ", "") ?? null);
    return Response.json({ pods, stale: false, as_of: null, warnings: [] });
  });
  const denoDir: string = JSON.parse((await run(Deno.execPath(), ["info", "--json"])).out).denoDir;
  try {
    await withFolder(async (home) => {
      const url = `http://127.0.0.1:${server.addr.port}`;
      const env = { HOME: home, DENO_DIR: denoDir };
      await use({
        home,
        url,
        env,
        tokens,
        orgpods: (args, more = {}) => runProgram("main.ts", { args, env: { ...env, ...more } }),
        async signIn(token = TOKEN, org = "soc") {
          await Deno.mkdir(`${home}/.godfather`, { recursive: true });
          await Deno.writeTextFile(`${home}/.godfather/config.json`, JSON.stringify({ token, api_url: url, org }));
        },
        read: (path) => Deno.readTextFile(`${home}/${path}`),
      });
    });
  } finally {
    await server.shutdown();
  }
}

const CONFIG = ".ssh/orgpods/soc/config";

Deno.test("ssh-config leaves ~/.ssh/config alone and says the line when it cannot ask", () =>
  withComputer(async ({ home, orgpods, signIn, tokens, read }) => {
    await signIn();
    const done = await orgpods(["ssh-config"]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.stdout, "HOST          POD     STATUS\nsoc-workshop  k7x2m9  RUNNING\n");
    assert.ok(done.stderr.includes(`Include "${home}/.ssh/orgpods/*/config"`), done.stderr);
    await assert.rejects(Deno.stat(`${home}/.ssh/config`), Deno.errors.NotFound);
    assert.match(await read(CONFIG), /^Host soc-workshop$/m);
    assert.deepEqual(tokens, [TOKEN]);
    const json = await orgpods(["ssh-config", "--json"]);
    assert.deepEqual(JSON.parse(json.stdout), {
      config: `${home}/${CONFIG}`,
      hosts: [{ host: "soc-workshop", pod_id: "k7x2m9", name: "workshop", status: "RUNNING" }],
    });
    const gone = await orgpods(["ssh-config", "--remove"]);
    assert.equal(gone.code, 0, gone.stderr);
    await assert.rejects(Deno.stat(`${home}/.ssh`), Deno.errors.NotFound);
  }));

Deno.test({
  name: "ssh-config adds the line to ~/.ssh/config only after a yes when it asks on a terminal",
  ignore: lacks("python3"),
  fn: () =>
    withComputer(async ({ home, env, signIn, read }) => {
      await signIn();
      const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
      const answer = (send: string) =>
        playOnTerminal([Deno.execPath(), "run", "-A", "--no-check", "--quiet", main, "ssh-config"], {
          env: { ...env, PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin" },
          cwd: home,
          steps: [{ expect: "\\[y/N\\]: ?", send }],
        });
      assert.equal((await answer("\r")).code, 0);
      await assert.rejects(Deno.stat(`${home}/.ssh/config`), Deno.errors.NotFound);
      assert.equal((await answer("y\r")).code, 0);
      assert.equal(await read(".ssh/config"), `Include "${home}/.ssh/orgpods/*/config"\n`);
    }),
});

Deno.test("ssh-config takes the token from the environment or a file, and keeps one that ssh would not have", () =>
  withComputer(async ({ home, url, orgpods, signIn, tokens, read }) => {
    const args = ["--server", url, "--org", "soc"];
    const none = await orgpods([...args, "ssh-config"]);
    assert.equal(none.code, 4);
    assert.equal(
      none.stderr,
      `error: You are not signed in to soc at ${url}\nhint: Run: godfather auth --api-url ${url} --org soc\n`,
    );
    const bad = await orgpods([...args, "ssh-config"], { ORGPODS_TOKEN: "rpa_secret" });
    assert.equal(bad.code, 2);
    assert.ok(!bad.stderr.includes("rpa_secret"));

    assert.equal((await orgpods([...args, "ssh-config"], { ORGPODS_TOKEN: TOKEN })).code, 0);
    assert.equal(await read(".ssh/orgpods/soc/token"), `${TOKEN}\n`);
    assert.equal((await Deno.stat(`${home}/.ssh/orgpods/soc/token`)).mode! & 0o777, 0o600);
    assert.equal((await orgpods(["--org", "soc", "ssh-config"])).code, 0, "as it was set up");

    await Deno.writeTextFile(`${home}/mine`, OTHER, { mode: 0o600 });
    assert.equal((await orgpods([...args, "--token-file", `${home}/mine`, "ssh-config"])).code, 0);
    await signIn();
    assert.equal((await orgpods(["ssh-config"])).code, 0, "the file stays the source");
    assert.deepEqual(tokens, [TOKEN, TOKEN, OTHER, OTHER]);
    const settings = await read(".ssh/orgpods/soc/settings.json");
    assert.ok(!settings.includes("plat_"));
  }));

Deno.test("ssh-config sets two organizations up side by side and removes them one by one", () =>
  withComputer(async ({ home, orgpods, signIn, read }) => {
    await signIn(TOKEN, "soc");
    assert.equal((await orgpods(["ssh-config", "--yes"])).code, 0);
    const before = await read(CONFIG);
    await signIn(TOKEN, "lab");
    const second = await orgpods(["ssh-config", "--yes"]);
    assert.match(second.stdout, /^lab-workshop /m);
    assert.equal(await read(CONFIG), before);
    const one = await orgpods(["--org", "soc", "ssh-config", "--remove"]);
    assert.equal(one.stdout, "soc\n");
    assert.match(await read(".ssh/config"), /^Include /);
    assert.match(await read(".ssh/orgpods/lab/config"), /^Host lab-workshop$/m);
    assert.equal((await orgpods(["ssh-config", "--remove"])).stdout, "lab\n");
    await assert.rejects(Deno.stat(`${home}/.ssh`), Deno.errors.NotFound);
  }));

Deno.test("ssh-config keeps away from names that the user has given already, and logs in with --identity", () =>
  withComputer(async ({ home, orgpods, signIn, read }) => {
    await signIn();
    await Deno.mkdir(`${home}/.ssh`);
    await Deno.writeTextFile(`${home}/.ssh/config`, "Host soc-workshop other\n");
    const missing = await orgpods(["ssh-config", "--identity", `${home}/key`]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^error: There is no public key .*\nhint: Make it with: ssh-keygen -y/);
    await Deno.writeTextFile(
      `${home}/key.pub`,
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUvLzTrGgoO8DFLpyj2M3Qv8UUQLhlnDH2bxqYTZf7v test\n",
    );
    assert.equal((await orgpods(["ssh-config", "--identity", `${home}/key`])).code, 0);
    const config = await read(CONFIG);
    assert.match(config, /^Host soc-k7x2m9$/m);
    assert.ok(config.includes(`IdentityFile "${home}/key"`));
    await assert.rejects(Deno.stat(`${home}/.ssh/orgpods/soc/id_ed25519`), Deno.errors.NotFound);
    assert.equal(await read(".ssh/config"), "Host soc-workshop other\n");
  }));

Deno.test("ssh-config warns of a pod that cannot have a name, and ssh-proxy knows only what is set up", () =>
  withComputer(async ({ orgpods, signIn, read }) => {
    const before = await orgpods(["ssh-proxy", "soc", "k7x2m9"]);
    assert.equal(before.code, 2);
    assert.equal(
      before.stderr,
      "error: ssh is not set up for the pod k7x2m9 of soc\nhint: Run: orgpods --org soc ssh-config\n",
    );
    await signIn();
    const done = await orgpods(["ssh-config"]);
    assert.match(
      done.stderr,
      /^warning: The pod evil\\u\{a\}Host \* \(a\\u\{a\}Host \*\) cannot have a name for ssh\.$/m,
    );
    assert.doesNotMatch(await read(CONFIG), /^\s*Host \*/m);
    for (const [org, pod] of [["soc", "../../x"], ["soc", "nosuch"], ["..", "k7x2m9"], ["lab", "k7x2m9"]] as const) {
      assert.equal((await orgpods(["ssh-proxy", org, pod])).code, 2, `${org} ${pod}`);
    }
  }, [{ id: "a\nHost *", name: "evil\nHost *", status: "RUNNING" }]));
