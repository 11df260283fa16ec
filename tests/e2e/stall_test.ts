/** The demo's system with real pods while RunPod, or Discord, takes requests and does not answer them. */
import assert from "node:assert/strict";
import { GUILD, MEMBER, STRANGER } from "../../server/demo/people.ts";
import { type Demo, startDemo } from "../../server/demo/start.ts";
import { silentLog } from "../../server/log.ts";
import { mustRun, ssh } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { OPERATOR, type Reply, send, untilTrue } from "../support/server_process.ts";

/** What a busy machine may add; a call that waited for what stalls would take a minute. */
const BUSY_MS = 20_000;
/** The contract's time limits (6.4). */
const ME_PODS_MS = 4_000 + BUSY_MS;
const CONNECT_MS = 12_000 + BUSY_MS;
/** How long a proof of a stored address is trusted, and a little. */
const PROOF_OVER_MS = 31_000;

interface Scene {
  readonly demo: Demo;
  readonly folder: string;
  readonly publicKey: string;
  /** Moves the clock of everything in this process. */
  advance(ms: number): void;
  /** Calls the API and says how long the answer took. */
  api(method: string, path: string, token: string, body?: unknown): Promise<Reply & { readonly ms: number }>;
  /** Turns a knob of a stand-in. */
  control(origin: string, method: string, path: string, body?: unknown): Promise<Reply>;
  connect(token: string): Promise<Reply & { readonly ms: number }>;
  /** Logs in with a certificate as its owner would. */
  login(answer: Reply): Promise<string>;
}

async function withDemo(use: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  let offset = 0;
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  try {
    await mustRun("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", `${folder}/key`);
    const demo = await startDemo({ port: 0, log: silentLog, clock: { now: () => Date.now() + offset } });
    const { facts } = demo;
    const publicKey = await Deno.readTextFile(`${folder}/key.pub`);
    const control: Scene["control"] = async (origin, method, path, body) => {
      const headers = { "x-demo-secret": facts.demo_secret };
      const answer = await send(client, method, `${origin}/_demo${path}`, { body, headers });
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    const api: Scene["api"] = async (method, path, token, body) => {
      const begun = performance.now();
      const answer = await send(client, method, `${facts.url}/api/compute/${facts.org}${path}`, { token, body });
      return { ...answer, ms: performance.now() - begun };
    };
    try {
      await use({
        demo,
        folder,
        publicKey,
        advance: (ms) => void (offset += ms),
        api,
        control,
        connect: (token) => api("POST", `/me/pods/${facts.pod_id}/connect`, token, { public_key: publicKey }),
        async login(answer) {
          assert.equal(answer.status, 200, answer.text);
          const { host, port, certificate } = answer.json.ssh_info;
          await Deno.writeTextFile(`${folder}/key-cert.pub`, `${certificate}\n`);
          const outcome = await ssh({ host, port }, `${folder}/key`, { command: "echo logged-in" });
          return outcome.out + outcome.err;
        },
      });
    } finally {
      for (const origin of [facts.runpod_url, facts.discord_url]) await control(origin, "DELETE", "/faults");
      await demo.close();
    }
  } finally {
    client.close();
    await Deno.remove(folder, { recursive: true });
  }
}

interface InsidePod {
  readonly address: { readonly host: string; readonly port: number };
  readonly address_shown: boolean;
}

/** Stops and starts the pod in "RunPod's console"; gives the new address. */
async function moveOutside({ demo, control }: Scene): Promise<InsidePod["address"]> {
  const { runpod_url, pod_id } = demo.facts;
  await control(runpod_url, "POST", "/pods", { action: "stop_outside", id: pod_id });
  await control(runpod_url, "POST", "/pods", { action: "start_outside", id: pod_id });
  return await untilTrue("the pod has a new address", async () => {
    const [pod] = (await control(runpod_url, "GET", "/pods")).json.pods as [InsidePod];
    return pod.address_shown && pod.address;
  });
}

Deno.test({
  name: "the demo answers in time and says what it knows when RunPod or Discord stalls",
  ignore: lacks("sshd", "ssh", "ssh-keygen", "root"),
  fn: (t) =>
    withDemo(async (scene) => {
      const { demo, api, control, connect, login } = scene;
      const { facts } = demo;
      assert.match(demo.pods, /real sshd/);
      const before = await connect(facts.member.token);
      assert.match(await login(before), /^logged-in/);
      assert.deepEqual([before.json.stale, before.json.warnings], [false, []]);

      await t.step("RunPod stalls: last known states, and certificates that work", async () => {
        await control(facts.runpod_url, "POST", "/faults", { fault: "F34", variant: "slow", ms: 60_000 });
        scene.advance(PROOF_OVER_MS);
        const [list, all, member, officer] = await Promise.all([
          api("GET", "/me/pods", facts.member.token),
          api("GET", "/me/pods?state=all", facts.officer.cli_token),
          connect(facts.member.token),
          connect(facts.officer.cli_token),
        ]);
        for (const answer of [list, all]) {
          assert.ok(answer.ms < ME_PODS_MS, `${answer.ms} ms`);
          assert.equal(answer.json.stale, true);
          assert.ok(answer.json.as_of !== null);
          assert.match(answer.json.warnings[0], /RunPod could not be reached.*last known/);
          assert.deepEqual(
            answer.json.pods.map((pod: Record<string, unknown>) => [pod.id, pod.status, pod.stale]),
            [[facts.pod_id, "RUNNING", true]],
          );
        }
        for (const answer of [member, officer]) {
          assert.ok(answer.ms < CONNECT_MS, `${answer.ms} ms`);
          assert.match(await login(answer), /^logged-in/);
          assert.equal(answer.json.stale, true);
          assert.ok(answer.json.as_of !== null);
          assert.match(answer.json.warnings.join("\n"), /last known/);
          assert.equal(answer.json.ssh_info.port, before.json.ssh_info.port);
        }
        assert.deepEqual([member, officer].map((one) => one.json.ssh_info.is_admin), [false, true]);
      });

      await t.step("RunPod stalls and the pod moved: the old address is not given out", async () => {
        await moveOutside(scene);
        scene.advance(PROOF_OVER_MS);
        const answer = await connect(facts.member.token);
        assert.ok(answer.ms < CONNECT_MS, `${answer.ms} ms`);
        assert.deepEqual([answer.status, answer.json.code], [503, "ssh_address_pending"], answer.text);
      });

      await t.step("RunPod answers again: the new address", async () => {
        await control(facts.runpod_url, "DELETE", "/faults");
        const address = await moveOutside(scene);
        const answer = await connect(facts.member.token);
        assert.ok(answer.ms < CONNECT_MS, `${answer.ms} ms`);
        assert.equal(answer.json.ssh_info.port, address.port);
        assert.equal(answer.json.stale, false);
        assert.match(await login(answer), /^logged-in/);
      });

      await t.step("Discord stalls: nobody new is let in", async () => {
        const unix = Deno.createHttpClient({ proxy: { transport: "unix", path: `${facts.data_dir}/operator.sock` } });
        try {
          const body = { kind: "cli", discord_id: STRANGER.id };
          const made = await send(unix, "POST", `${OPERATOR}/api/compute/${facts.org}/tokens`, { body });
          await control(facts.discord_url, "POST", "/world", { action: "join", guild_id: GUILD, user_id: STRANGER.id });
          await control(facts.discord_url, "POST", "/faults", { fault: "D20", variant: "slow", ms: 60_000 });
          const [list, wanted] = await Promise.all([
            api("GET", "/me/pods", made.json.token),
            connect(made.json.token),
          ]);
          assert.ok(list.ms < ME_PODS_MS, `${list.ms} ms`);
          assert.ok(wanted.ms < CONNECT_MS, `${wanted.ms} ms`);
          for (const answer of [list, wanted]) {
            assert.deepEqual([answer.status, answer.json.code], [503, "discord_unavailable"], answer.text);
          }
          const known = await api("GET", "/me/pods", facts.member.token);
          assert.equal(known.status, 200, `${MEMBER.username} was asked about a moment ago`);
          await control(facts.discord_url, "DELETE", "/faults");
          await untilTrue(
            "the new member is let in",
            async () => (await api("GET", "/me/pods", made.json.token)).json.pods?.length === 1,
          );
        } finally {
          unix.close();
        }
      });
    }),
});
