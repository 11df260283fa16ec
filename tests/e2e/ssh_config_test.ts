/** `orgpods ssh-config` on a member's computer: the real ssh, scp, sftp and rsync get into a pod by its name. */
import assert from "node:assert/strict";
import { run, withFolder } from "../demo/pods_support.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { type Finished, runProgram } from "../support/process.ts";
import { listingOf } from "../support/ssh_client.ts";
import { until } from "../support/sshd.ts";

const ignore = lacks("ssh", "ssh-keygen", "scp", "sftp", "sshd", "root");
/** What a member may have set for all hosts must not keep ssh from a pod; without an end of line. */
const OWN = `# mine
Host *
  StrictHostKeyChecking yes
  UserKnownHostsFile /nowhere/known_hosts
  IdentityFile /nowhere/id
  HashKnownHosts yes
  ForwardAgent yes
  ProxyJump elsewhere
Host elsewhere
  User somebody`;
const HOST = "demo-workshop";

interface Done {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Computer {
  readonly demo: DemoProcess;
  readonly home: string;
  /** `~/.ssh/orgpods/demo/pod-<id>` of the demo's pod; `-cert.pub` and the like come after it. */
  readonly stem: string;
  orgpods(...args: string[]): Promise<Finished>;
  /** Runs ssh, scp, sftp or rsync with the computer's own `~/.ssh/config`. */
  tool(program: string, args: readonly string[], input?: string): Promise<Done>;
  ssh(...words: string[]): Promise<Done>;
}

/** A computer on which the member is signed in with the godfather client and has a configuration of their own. */
async function withComputer(use: (computer: Computer) => Promise<void>): Promise<void> {
  await withFolder((home) =>
    withDemo(async (demo) => {
      const { url, org, member, pod_id } = demo.facts;
      await Deno.mkdir(`${home}/.godfather`);
      const kept = { token: member.token, api_url: `${url}/`, org };
      await Deno.writeTextFile(`${home}/.godfather/config.json`, JSON.stringify(kept));
      await Deno.mkdir(`${home}/.ssh`, { mode: 0o700 });
      await Deno.writeTextFile(`${home}/.ssh/config`, OWN, { mode: 0o600 });
      const denoDir = await denoFolder();
      const env = { HOME: home, DENO_DIR: denoDir };
      const tool: Computer["tool"] = async (program, args, input) => {
        // ssh finds the home folder by the account, not by HOME: so its configuration is named.
        const words = program === "rsync" ? ["-e", `ssh -F ${home}/.ssh/config`] : ["-F", `${home}/.ssh/config`];
        const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
        return await run("env", [...set, "SSH_AUTH_SOCK=", program, ...words, ...args], input);
      };
      await use({
        demo,
        home,
        stem: `${home}/.ssh/orgpods/${org}/pod-${pod_id}`,
        orgpods: (...args) => runProgram("main.ts", { args, env }),
        tool,
        ssh: (...words) => tool("ssh", words),
      });
    })
  );
}

function freePort(): number {
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  probe.close();
  return probe.addr.port;
}

/** Where this deno keeps its packages, which a program with another HOME would look for elsewhere. */
async function denoFolder(): Promise<string> {
  const { out } = await run(Deno.execPath(), ["info", "--json"]);
  return JSON.parse(out).denoDir;
}

async function setUp({ orgpods }: Computer): Promise<Finished> {
  const done = await orgpods("ssh-config", "--yes");
  assert.equal(done.code, 0, done.stderr);
  return done;
}

const succeeded = ({ code, out, err }: Done, wanted: string) => assert.deepEqual([code, out, err], [0, wanted, ""]);

const certificates = ({ demo }: Computer) => demo.rows("select count(*) as n from compute_connections")[0]!.n;

Deno.test({
  name: "ssh, scp and sftp reach a pod by its name when ssh-config was run, with one certificate for all",
  ignore,
  fn: () =>
    withComputer(async (computer) => {
      const { home, stem, tool, ssh, demo } = computer;
      const done = await setUp(computer);
      assert.match(done.stdout, new RegExp(`^${HOST} +${demo.facts.pod_id} +RUNNING$`, "m"));
      for (const path of [`${home}/.ssh/orgpods`, `${home}/.ssh/orgpods/demo`]) {
        assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700, path);
      }
      assert.equal((await Deno.stat(`${home}/.ssh/orgpods/demo/id_ed25519`)).mode! & 0o777, 0o600);

      // Two at once, and there is no certificate yet.
      const two = await Promise.all([ssh(HOST, "id -un"), ssh(HOST, "id -un")]);
      for (const one of two) succeeded(one, "godfather_mo.member\n");
      assert.equal(certificates(computer), 1);
      for (const end of ["-cert.pub", ".known_hosts", ".json"]) {
        assert.equal((await Deno.stat(stem + end)).mode! & 0o777, 0o600, end);
      }
      assert.match(await Deno.readTextFile(`${stem}.known_hosts`), /^demo-\w+ ssh-ed25519 \S+\n$/);

      const bytes = Uint8Array.from({ length: 500_000 }, (_, index) => index * index >> 3);
      await Deno.writeFile(`${home}/data.bin`, bytes);
      succeeded(await tool("scp", ["-q", `${home}/data.bin`, `${HOST}:by-scp.bin`]), "");
      const batch = `put ${home}/data.bin by-sftp.bin\nget by-scp.bin ${home}/back.bin\n`;
      const sftp = await tool("sftp", ["-q", "-b", "-", HOST], batch);
      assert.deepEqual([sftp.code, sftp.err], [0, ""]);
      assert.deepEqual(await Deno.readFile(`${home}/back.bin`), bytes);
      const compared = await ssh(HOST, "cmp by-scp.bin by-sftp.bin && exit 7");
      assert.deepEqual([compared.code, compared.out, compared.err], [7, "", ""], "with the exit code of the command");
      // As VS Code gets in: a script on standard input, and a port forward beside it.
      const editor = await tool("ssh", ["-T", "-D", `127.0.0.1:${freePort()}`, HOST, "bash"], 'echo "in $PWD"\n');
      assert.equal(editor.out, "in /workspace/users/mo.member\n", editor.err);
      assert.equal(editor.code, 0);
      assert.equal(certificates(computer), 1);
    }),
});

Deno.test({
  name: "rsync carries a folder to a pod by its name",
  ignore: ignore || lacks("rsync"),
  fn: () =>
    withComputer(async (computer) => {
      await setUp(computer);
      const { home, tool, ssh } = computer;
      await Deno.mkdir(`${home}/folder`);
      await Deno.writeTextFile(`${home}/folder/a b`, "one");
      succeeded(await tool("rsync", ["-a", `${home}/folder`, `${HOST}:`]), "");
      succeeded(await ssh(HOST, "cat 'folder/a b'"), "one");
    }),
});

Deno.test({
  name: "ssh gets a new certificate silently when the one in place ends soon or is not the server's",
  ignore,
  fn: () =>
    withComputer(async (computer) => {
      await setUp(computer);
      const { home, stem, ssh, demo } = computer;
      succeeded(await ssh(HOST, "true"), "");
      const file = `${stem}-cert.pub`;
      const key = `${home}/.ssh/orgpods/demo/id_ed25519`;
      const ca = `${home}/ca`;
      await mustKeygen("-q", "-t", "ed25519", "-N", "", "-f", ca);
      /** A certificate that this pod does not believe, put in the place of the right one. */
      const putInPlace = async (validity: string) => {
        await Deno.copyFile(`${key}.pub`, `${home}/mine.pub`);
        const principal = `gf-${demo.facts.pod_id}`;
        await mustKeygen("-q", "-s", ca, "-I", "x", "-z", "9", "-n", principal, "-V", validity, `${home}/mine.pub`);
        await Deno.rename(`${home}/mine-cert.pub`, file);
        const state = JSON.parse(await Deno.readTextFile(`${stem}.json`));
        await Deno.writeTextFile(`${stem}.json`, JSON.stringify({ ...state, checked_at: state.checked_at - 60_000 }));
      };
      for (const validity of ["-1h:+5m", "-1h:-5m", "-1h:+3h"]) {
        await putInPlace(validity);
        succeeded(await ssh(HOST, "id -un"), "godfather_mo.member\n");
        const { to } = await listingOf(file);
        assert.ok(to > Date.now() + 11 * 3_600_000, validity);
      }
      assert.equal(certificates(computer), 4);
    }),
});

Deno.test({
  name: "ssh says why it cannot get in while the pod is stopped, and gets in when it runs again at another port",
  ignore,
  fn: () =>
    withComputer(async (computer) => {
      await setUp(computer);
      const { ssh, demo, stem } = computer;
      succeeded(await ssh(HOST, "true"), "");
      const before = JSON.parse(await Deno.readTextFile(`${stem}.json`));
      await demo.act("stop");
      const refused = await ssh(HOST, "true");
      assert.equal(refused.code, 255);
      assert.match(refused.err, /^error: Pod is not running\n/);
      await demo.act("start");
      await until(async () => (await ssh(HOST, "true")).code === 0, "ssh gets in again");
      succeeded(await ssh(HOST, "id -un"), "godfather_mo.member\n");
      const after = JSON.parse(await Deno.readTextFile(`${stem}.json`));
      assert.notEqual(after.port, before.port);
      assert.notEqual(after.start, before.start);
    }),
});

Deno.test({
  name: "ssh refuses a host key that is not the one the server knows",
  ignore,
  fn: () =>
    withComputer(async (computer) => {
      await setUp(computer);
      const { ssh, home, stem } = computer;
      succeeded(await ssh(HOST, "true"), "");
      await mustKeygen("-q", "-t", "ed25519", "-N", "", "-f", `${home}/other`);
      const [type, key] = (await Deno.readTextFile(`${home}/other.pub`)).split(" ");
      const known = await Deno.readTextFile(`${stem}.known_hosts`);
      const state = JSON.parse(await Deno.readTextFile(`${stem}.json`));
      await Deno.writeTextFile(`${stem}.json`, JSON.stringify({ ...state, checked_at: 0 }));
      // Signed out: the server is not asked, and what is kept is taken as it is.
      await Deno.remove(`${home}/.godfather/config.json`);
      await Deno.writeTextFile(`${stem}.known_hosts`, `${known.split(" ")[0]} ${type} ${key}\n`);
      const refused = await ssh(HOST, "true");
      assert.equal(refused.code, 255);
      assert.match(refused.err, /^warning: You are not signed in to demo at \S+\. Trying the last known address\.$/m);
      assert.match(refused.err, /HOST IDENTIFICATION HAS CHANGED|Host key verification failed/);
    }),
});

Deno.test({
  name: "ssh-config --remove leaves ~/.ssh as it was",
  ignore,
  fn: () =>
    withComputer(async (computer) => {
      await setUp(computer);
      const { home, ssh, orgpods } = computer;
      succeeded(await ssh(HOST, "true"), "");
      const again = await setUp(computer);
      assert.equal(again.stderr, "", "a second run changes nothing in ~/.ssh/config");
      succeeded(await ssh(HOST, "true"), "");
      const done = await orgpods("ssh-config", "--remove");
      assert.deepEqual([done.code, done.stdout, done.stderr], [0, "demo\n", ""]);
      assert.equal(await Deno.readTextFile(`${home}/.ssh/config`), OWN);
      const names = [];
      for await (const { name } of Deno.readDir(`${home}/.ssh`)) names.push(name);
      assert.deepEqual(names, ["config"]);
      const none = await orgpods("ssh-config", "--remove");
      assert.deepEqual([none.code, none.stderr], [0, "There was nothing to remove.\n"]);
    }),
});

async function mustKeygen(...args: string[]): Promise<void> {
  const { code, err } = await run("ssh-keygen", args);
  assert.equal(code, 0, err);
}
