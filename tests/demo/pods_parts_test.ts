import assert from "node:assert/strict";
import { join } from "node:path";
import { systemClock } from "../../server/clock.ts";
import { choosePodHost } from "../../server/demo/pods/choose.ts";
import { signatureHolds } from "../../server/demo/pods/login_signature.ts";
import { interpretCommand } from "../../server/demo/pods/pod_command.ts";
import { createTerminalLines } from "../../server/demo/pods/terminal_lines.ts";
import { createTurns } from "../../server/turns.ts";
import { silentLog } from "../../server/log.ts";
import { generateKeyPair, signerOf } from "../../server/ssh/private_key.ts";
import { Writer } from "../../server/ssh/wire.ts";
import { lacks } from "../support/needs.ts";
import { withFolder, withHost } from "./pods_support.ts";

Deno.test("interpretCommand puts a forced name before whatever the client asks for", () => {
  const forced = "/usr/local/bin/godfather-login bob";
  const bob = { folder: "users/bob", name: "bob" };
  assert.deepEqual(interpretCommand(forced, undefined), { ...bob, command: undefined });
  assert.deepEqual(interpretCommand(forced, "ls"), { ...bob, command: "ls" });
  const admin = "/usr/local/bin/godfather-login --admin ada";
  assert.deepEqual(interpretCommand(forced, admin), { ...bob, command: admin });
  assert.deepEqual(interpretCommand(undefined, admin), { folder: "users/ada", name: "ada", command: undefined });
});

Deno.test("interpretCommand leaves names that break the rule to the shell", () => {
  for (const name of ["..", "../bob", "-x", "Bob", "a".repeat(23), "bob; id", "bob\n"]) {
    const command = `/usr/local/bin/godfather-login ${name}`;
    assert.deepEqual(interpretCommand(undefined, command), { folder: "", command, name: undefined }, name);
  }
});

Deno.test("signatureHolds tells the certified key's own signature from every other", () => {
  const pair = generateKeyPair();
  const blob = new Writer().string("ssh-ed25519").string(pair.publicKey).bytes();
  const grant = { type: "ssh-ed25519", blob, certified: true, forcedCommand: undefined, who: "test" };
  const message = new TextEncoder().encode("session and request");
  const holds = (signature: Uint8Array, type = "ssh-ed25519", rest = new Uint8Array()) =>
    signatureHolds(grant, {
      blob: message,
      signature: new Writer().string(type).string(signature).raw(rest).bytes(),
      hashAlgo: undefined,
    });
  const right = signerOf(pair).sign(message);
  assert.equal(holds(right), true);
  assert.equal(holds(signerOf(generateKeyPair()).sign(message)), false);
  assert.equal(holds(signerOf(pair).sign(blob)), false);
  assert.equal(holds(right, "rsa-sha2-256"), false);
  assert.equal(holds(right, "ssh-rsa"), false);
  assert.throws(() => holds(right, "ssh-ed25519", new Uint8Array(1)), /bytes after the last field/);
});

Deno.test("createTerminalLines edits, echoes, interrupts and ends as a terminal does", () => {
  const seen: string[] = [];
  const type = createTerminalLines({
    echo: (text) => seen.push(`echo ${JSON.stringify(text)}`),
    line: (text) => seen.push(`line ${JSON.stringify(text)}`),
    interrupt: () => seen.push("interrupt"),
    end: () => seen.push("end"),
  });
  const typed = (text: string) => {
    seen.length = 0;
    type(new TextEncoder().encode(text));
    return seen.filter((one) => !one.startsWith("echo"));
  };
  assert.deepEqual(typed("lx\u007fs\r"), ['line "ls\\n"']);
  assert.deepEqual(
    seen,
    ["l", "x", "\b \b", "s", "\r\n"].map((text) => `echo ${JSON.stringify(text)}`).concat('line "ls\\n"'),
  );
  assert.deepEqual(typed("gone\u0003ls\n"), ["interrupt", 'line "ls\\n"']);
  assert.deepEqual(typed("\u001b[A\u001b[3~a\u0015b\r"), ['line "b\\n"']);
  assert.deepEqual(typed("half\u0004\u0004"), ['line "half"', "end"]);
  assert.deepEqual(typed("gr\u00fc\u00df\u007f\r"), ['line "gr\u00fc\\n"']);
});

Deno.test("createTurns does one thing at a time per name and goes on after a failure", async () => {
  const turns = createTurns();
  const order: string[] = [];
  const work = (name: string, fails = false) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    order.push(`${name} ends`);
    if (fails) throw new Error("It failed");
  };
  const first = turns.take("a", work("first", true));
  const second = turns.take("a", work("second"));
  await assert.rejects(first, /It failed/);
  await second;
  await turns.idle();
  assert.deepEqual(order, ["first begins", "first ends", "second begins", "second ends"]);
});

Deno.test({
  name: "choosePodHost chooses real sshd pods where root has the tools",
  ignore: lacks("root", "sshd", "unshare", "setpriv", "useradd", "su"),
  fn: () =>
    withFolder(async (folder) => {
      const pods = join(folder, "pods");
      const options = { folder: pods, log: silentLog, clock: systemClock, flavour: "orgpods" } as const;
      const chosen = await choosePodHost(options);
      await withHost(chosen.host, async (host) => {
        assert.deepEqual([chosen.kind, chosen.why], ["sshd", "Pods run a real sshd in private namespaces."]);
        assert.equal((await host.start({ id: "a", image: "test", env: {} })).host, "127.0.0.1");
      });
      assert.deepEqual([...Deno.readDirSync(folder)], []);
    }),
});

// As root the other test of choosePodHost applies, so there is nothing to skip.
if (Deno.uid() !== 0) {
  Deno.test("choosePodHost says why it takes the in-process server when it is not root", () =>
    withFolder(async (folder) => {
      const options = { folder: join(folder, "pods"), log: silentLog, clock: systemClock, flavour: "orgpods" } as const;
      const chosen = await choosePodHost(options);
      await withHost(chosen.host, () => {
        assert.equal(chosen.kind, "in-process");
        assert.match(chosen.why, /real ones need (?:root|Linux)/);
        return Promise.resolve();
      });
    }));
}
