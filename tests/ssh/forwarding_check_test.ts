import assert from "node:assert/strict";
import { checkForwarding } from "../../server/ssh/forwarding_check.ts";
import { sshServer } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { errorOf, keyPair, targetAt, trustingPool } from "../support/ssh_pool.ts";
import { freePort, startSshd } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const NO = "AllowStreamLocalForwarding no";
const OUR_IMAGE = "orgpods-image 1\nallow-stream-local-forwarding no\n";

interface Case {
  /** The configuration the daemon was started with. */
  readonly daemon: string[];
  /** The configuration file at the time of the check, when it is another one. */
  readonly file?: string[];
  /** Content of the image's marker file; undefined for none. */
  readonly marker: string | undefined;
  readonly verdict: string;
  readonly reason: RegExp;
}

const cases: Record<string, Case> = {
  "refused when image, configuration and daemon refuse": {
    daemon: [NO],
    marker: OUR_IMAGE,
    verdict: "refused",
    reason: /^The pod's image and its SSH server refuse/,
  },
  "allowed when the directive was written without a reload": {
    daemon: [],
    file: [NO],
    marker: OUR_IMAGE,
    verdict: "allowed",
    reason: /running SSH server allows/,
  },
  "allowed when the file allows it after the next start": {
    daemon: [NO],
    file: [],
    marker: OUR_IMAGE,
    verdict: "allowed",
    reason: /configuration of the pod's SSH server allows .*allowstreamlocalforwarding yes/,
  },
  "allowed when a Match block for root allows it again": {
    daemon: [NO, "Match User root; AllowStreamLocalForwarding yes"],
    marker: OUR_IMAGE,
    verdict: "allowed",
    reason: /allows Unix-socket forwarding/,
  },
  "allowed when a Match block for root was written without a reload": {
    daemon: [NO],
    file: [NO, "Match User root; AllowStreamLocalForwarding yes"],
    marker: OUR_IMAGE,
    verdict: "allowed",
    reason: /configuration of the pod's SSH server allows/,
  },
  "allowed when only local forwarding is allowed": {
    daemon: ["AllowStreamLocalForwarding local"],
    marker: OUR_IMAGE,
    verdict: "allowed",
    reason: /allowstreamlocalforwarding local/,
  },
  "allowed when the image has no marker file": {
    daemon: [NO],
    marker: undefined,
    verdict: "allowed",
    reason: /image does not say/,
  },
  "allowed when the marker file says something else": {
    daemon: [NO],
    marker: "allow-stream-local-forwarding no\nallow-stream-local-forwarding yes\n",
    verdict: "allowed",
    reason: /image does not say/,
  },
  "allowed when the word comes after the first 200 bytes": {
    daemon: [NO],
    marker: `${"#".repeat(200)}\n${OUR_IMAGE}`,
    verdict: "allowed",
    reason: /image does not say/,
  },
};

async function probeFiles(): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir("/run")) if (entry.name.startsWith("orgpods-")) names.push(entry.name);
  return names;
}

for (const [name, { daemon, file, marker, verdict, reason }] of Object.entries(cases)) {
  Deno.test(`checkForwarding says ${name}`, needsSshd, async () => {
    const sshd = await startSshd(...daemon);
    const pool = trustingPool();
    try {
      if (file) await sshd.writeConfig(file);
      const markerFile = `${sshd.folder}/orgpods image's marker`;
      if (marker !== undefined) await Deno.writeTextFile(markerFile, marker);
      const options = { deadlineMs: 60_000, markerFile, sshdConfig: sshd.configFile };
      const result = await checkForwarding(pool, sshd.target(), options);
      assert.equal(result.verdict, verdict, result.reason);
      assert.match(result.reason, reason);
      assert.deepEqual(pool.stats(), { connections: 1, channels: 0, waiting: 0, backingOff: 0 });
    } finally {
      await pool.close();
      await sshd.stop();
    }
  });
}

Deno.test("checkForwarding leaves no socket behind when the daemon grants one", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  try {
    const ids: string[] = [];
    const result = await checkForwarding(
      {
        ...pool,
        withClient: (target, f, options) =>
          pool.withClient(target, (client, signal) => {
            const forward = client.openssh_forwardInStreamLocal.bind(client);
            client.openssh_forwardInStreamLocal = (path, done) => (ids.push(path), forward(path, done));
            return f(client, signal);
          }, options),
      },
      sshd.target(),
      { deadlineMs: 60_000, sshdConfig: sshd.configFile },
    );
    assert.equal(result.reason, "The pod's running SSH server allows Unix-socket forwarding.");
    assert.equal(ids.length, 1);
    assert.equal((await probeFiles()).some((name) => ids.includes(`/run/${name}`)), false);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("checkForwarding says unknown when sshd does not tell its settings", needsSshd, async () => {
  const sshd = await startSshd(NO);
  const pool = trustingPool();
  try {
    const markerFile = `${sshd.folder}/marker`;
    await Deno.writeTextFile(markerFile, OUR_IMAGE);
    const options = { deadlineMs: 60_000, markerFile, sshdConfig: `${sshd.folder}/missing` };
    const result = await checkForwarding(pool, sshd.target(), options);
    assert.deepEqual([result.verdict, result.reason], [
      "unknown",
      "The pod's sshd did not tell its settings (sshd -T).",
    ]);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("checkForwarding says unknown when the pod cannot be reached or does not answer in time", async () => {
  const server = await sshServer({ hostKey: keyPair().private, exec: () => {} });
  const pool = trustingPool();
  try {
    const nobody = await checkForwarding(pool, targetAt(freePort(), { podKey: "other" }), { deadlineMs: 60_000 });
    assert.deepEqual(nobody, { verdict: "unknown", reason: "Could not connect to the pod." });
    await pool.connect(targetAt(server.port), { deadlineMs: 60_000 });
    const silent = await checkForwarding(pool, targetAt(server.port), { deadlineMs: 300 });
    assert.deepEqual(silent, { verdict: "unknown", reason: "The command on the pod failed." });
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("checkForwarding says unknown when the script's output is not ours", async () => {
  const server = await sshServer({
    hostKey: keyPair().private,
    exec: (accept) => {
      const channel = accept();
      channel.write("allow-stream-local-forwarding no\nallowstreamlocalforwarding no\n");
      channel.exit(0);
      channel.end();
    },
  });
  const pool = trustingPool();
  try {
    const result = await checkForwarding(pool, targetAt(server.port), { deadlineMs: 60_000 });
    assert.deepEqual(result, { verdict: "unknown", reason: "The check did not run to its end on the pod." });
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("checkForwarding throws host_key_changed when the verifier says no", async () => {
  const server = await sshServer({ hostKey: keyPair().private });
  const pool = trustingPool({ verifyHostKey: () => false });
  try {
    const error = await errorOf(checkForwarding(pool, targetAt(server.port), { deadlineMs: 60_000 }));
    assert.equal(error.code, "host_key_changed");
  } finally {
    await pool.close();
    await server.close();
  }
});
