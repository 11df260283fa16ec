/**
 * Pods with a real sshd under a whole orgpods in the test's process, and people on them with the real ssh. The clock is
 * the machine's, moved ahead at will, because sshd judges certificates by the machine's.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { LivePod } from "../../db/stores/pods.ts";
import { createSshdHost, type SshdHost, type SshdHostOptions } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { eventually, sshOptions, withFolder, withHost } from "../demo/pods_support.ts";
import { ORG } from "../pods/support.ts";
import { lacks } from "../support/needs.ts";
import { newKey, publicLineOf, saveCertificate, type SshInfo } from "../support/ssh_client.ts";
import { createRunningPod, createWorld, type Person, type TestClock, type World } from "../support/world.ts";

export const ignoreScene = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen", "ps");

/** Somebody's ssh that runs. */
export interface Ssh {
  /** All it printed so far. */
  printed(): string;
  type(text: string): Promise<void>;
  /** Ends it as a lost terminal would. */
  end(): Promise<void>;
}

/** A key with its certificate beside it, and where it leads to. */
export interface Login {
  readonly key: string;
  readonly at: SshInfo;
  readonly warnings: readonly string[];
}

/** Of the pods' sshd, such as their image (by default our own) or port. */
export type SceneOptions = Partial<Pick<SshdHostOptions, "flavour" | "choosePort">>;

export interface Scene {
  readonly world: World & { readonly clock: TestClock };
  /** RunPod's id. */
  readonly podId: string;
  readonly host: SshdHost;
  /** For keys and whatever else a test writes on the people's side. */
  readonly folder: string;
  row(): LivePod;
  /** Gets a certificate for a person. Needed before the clock is moved by more than five minutes. */
  login(person: Person): Promise<Login>;
  /** Starts ssh as a person with their certificate; `flags` as ssh takes them. */
  ssh(person: Person, flags: readonly string[], command?: string): Promise<Ssh>;
  /** Runs a command with the certificate the person has, to its end. */
  tryLogin(person: Person, command?: string): Promise<{ code: number; out: string; err: string }>;
  /** Their next login gets a new certificate. */
  forget(person: Person): void;
  /** A command as root over the server's own kind of login; its exit code and output. */
  root(command: string): Promise<{ code: number; out: string }>;
}

const MOST_AHEAD_MS = 60_000;

function movedClock(): TestClock {
  let ahead = 0;
  return { now: () => Date.now() + ahead, advance: (ms) => void (ahead += ms) };
}

export async function withScene(
  use: (scene: Scene) => Promise<void>,
  options: SceneOptions = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const host = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog, ...options });
    await withHost(host, async () => {
      const world = Object.assign(await createWorld({ clock: movedClock(), podHost: host }));
      const open: Ssh[] = [];
      try {
        await use(await sceneIn(world as Scene["world"], host, folder, open));
      } finally {
        for (const ssh of open) await ssh.end();
        await world.close();
      }
    });
  });
}

async function sceneIn(world: Scene["world"], host: SshdHost, folder: string, open: Ssh[]): Promise<Scene> {
  // On a busy machine a pod takes its time, and a clock far ahead of sshd's gives certificates that are not valid yet.
  const clock: TestClock = {
    now: world.clock.now,
    advance: (ms) => world.clock.now() - Date.now() < MOST_AHEAD_MS ? world.clock.advance(ms) : undefined,
  };
  const podId = await createRunningPod({ ...world, clock });
  const row = () => world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", podId)!;
  // While a pod of another image is set up its sshd reads its settings anew, and turns people away for a moment.
  await eventually("the pod has an address and is set up", async () => {
    clock.advance(1_500);
    await world.call("GET", `${ORG}/pods`, { as: "officer" });
    return row().host !== null && row().setup_start === row().start_key;
  });
  const logins = new Map<Person, Promise<Login>>();
  let keys = 0;
  const newLogin = async (person: Person): Promise<Login> => {
    const key = await newKey(folder, `${person}-${++keys}`);
    const body = { public_key: await publicLineOf(key) };
    const answer = await world.call("POST", `${ORG}/me/pods/${podId}/connect`, { as: person, body });
    assert.equal(answer.status, 200, answer.text);
    const at: SshInfo = answer.json.ssh_info;
    await saveCertificate(key, at.certificate);
    return { key, at, warnings: answer.json.warnings };
  };
  const login = (person: Person) => {
    const known = logins.get(person) ?? newLogin(person);
    logins.set(person, known);
    return known;
  };
  const start = async (person: Person, flags: readonly string[], command?: string): Promise<Ssh> => {
    const { key, at } = await login(person);
    const asked = command ?? (at.is_admin ? `/usr/local/bin/godfather-login --admin ${at.user_folder}` : undefined);
    const args = [...sshOptions(at, key), ...flags, `root@${at.host}`];
    if (asked !== undefined && !flags.includes("-N")) args.push(asked);
    const ssh = spawnSsh(args);
    open.push(ssh);
    return ssh;
  };
  return {
    world,
    podId,
    host,
    folder,
    row,
    login,
    ssh: start,
    forget: (person) => void logins.delete(person),
    async tryLogin(person, command = "true") {
      const { key, at } = await login(person);
      const { code, stdout, stderr } = await new Deno.Command("ssh", {
        args: [...sshOptions(at, key), `root@${at.host}`, command],
        stdin: "null",
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, out: text(stdout), err: text(stderr) };
    },
    async root(command) {
      const { at, key } = await login("officer");
      const { code, stdout } = await new Deno.Command("ssh", {
        args: [...sshOptions(at, key), `root@${at.host}`, command],
        stdin: "null",
      }).output();
      return { code, out: new TextDecoder().decode(stdout) };
    },
  };
}

function spawnSsh(args: readonly string[]): Ssh {
  const child = new Deno.Command("ssh", { args: [...args], stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  const writer = child.stdin.getWriter();
  let text = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  })();
  let ended = false;
  return {
    printed: () => text,
    async type(typed) {
      await writer.write(new TextEncoder().encode(typed));
    },
    async end() {
      if (ended) return;
      ended = true;
      try {
        child.kill("SIGKILL");
      } catch (error) {
        // It ended by itself.
        if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
      }
      await child.status;
      await reading;
      try {
        await writer.close();
      } catch (error) {
        if (!(error instanceof TypeError) && !(error instanceof Deno.errors.BrokenPipe)) throw error;
      }
    },
  };
}
