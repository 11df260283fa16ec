/**
 * The compiled program, alone in an empty directory: it starts, runs the demo, and a member gets into a pod. Which binary,
 * the environment says (ORGPODS_BINARY); without one the test is skipped, but not where skips are failures.
 */
import assert from "node:assert/strict";
import type { DemoFacts } from "../../server/demo/start.ts";
import { VERSION } from "../../server/version.ts";
import { run, ssh, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { checkGivenBack } from "../admin/program.ts";
import { inTmux } from "../support/tmux.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";

const binary = Deno.env.get("ORGPODS_BINARY");
const required = Deno.env.get("ORGPODS_TEST_REQUIRE") === "all";
if (binary === undefined && !required) console.error("skipped: ORGPODS_BINARY names no compiled program");

/** Nothing of a developer's machine: no cache of deno, no settings. */
const bare = (folder: string) => ({ PATH: Deno.env.get("PATH") ?? "", HOME: folder, DENO_DIR: `${folder}/none` });

/** Runs `use` with the program alone in an empty directory. */
async function withBinary(use: (home: string, folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    assert.ok(binary, "ORGPODS_BINARY must name the compiled program");
    const home = `${folder}/empty`;
    await Deno.mkdir(home);
    await Deno.copyFile(binary, `${home}/orgpods`);
    await use(home, folder);
  });
}

/** Runs `use` beside the program's own demo, which must end well. */
async function withItsDemo(home: string, use: (facts: DemoFacts) => Promise<void>): Promise<void> {
  const demo = new Deno.Command(`${home}/orgpods`, {
    args: ["demo", "--port", "0", "--json"],
    cwd: home,
    clearEnv: true,
    env: bare(home),
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let facts: DemoFacts | null = null;
  try {
    facts = JSON.parse(await firstLine(demo.stdout)) as DemoFacts;
    await use(facts);
  } finally {
    demo.kill("SIGTERM");
    const { code } = await demo.status;
    assert.equal(code, 0);
  }
  const left = await run("test", ["-e", facts.data_dir]);
  assert.equal(left.code, 1, "the demo removes its data directory");
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const reader = stream.getReader();
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  return text.split("\n")[0]!;
}

Deno.test("the binary runs version and the demo from an empty directory, and a member gets into the pod", {
  ignore: (binary === undefined && !required) || lacks("ssh", "ssh-keygen", "sshd", "root"),
}, () =>
  withBinary(async (home, folder) => {
    const version = await new Deno.Command(`${home}/orgpods`, {
      args: ["version"],
      cwd: home,
      clearEnv: true,
      env: bare(home),
    }).output();
    assert.equal(new TextDecoder().decode(version.stdout), `orgpods ${VERSION}\n`);
    assert.deepEqual(
      [...Deno.readDirSync(home)].map((entry) => entry.name),
      ["orgpods"],
      "it writes nothing beside it",
    );

    await withItsDemo(home, async (facts) => {
      const key = await newKey(folder, "member");
      const answer = await fetch(`${facts.url}/api/compute/${facts.org}/me/pods/${facts.pod_id}/connect`, {
        method: "POST",
        headers: { authorization: `Bearer ${facts.member.token}`, "content-type": "application/json" },
        body: JSON.stringify({ public_key: await publicLineOf(key) }),
      });
      assert.equal(answer.status, 200);
      const { ssh_info: info } = await answer.json();
      await saveCertificate(key, info.certificate);
      const inside = await ssh({ host: info.host, port: info.port }, key, { command: "id -un; pwd" });
      assert.equal(inside.out, `godfather_${info.user_folder}\n/workspace/users/${info.user_folder}\n`);
    });
  }));

Deno.test("the binary runs the admin: pods are shown in colours, keys work, and the terminal is whole afterwards", {
  ignore: (binary === undefined && !required) || lacks("tmux", "stty"),
}, () =>
  withBinary((home) =>
    withItsDemo(home, async ({ data_dir }) => {
      const command = [`${home}/orgpods`, "--data-dir", data_dir, "admin"];
      await inTmux({ command, env: bare(home), folder: home }, async (terminal) => {
        await terminal.until(/^> workshop/m);
        assert.equal(await terminal.flag("alternate_on"), true);
        await terminal.keys("Enter");
        await terminal.until("Pod id");
        // Colours come from the drawing library, which is loaded last.
        // deno-lint-ignore no-control-regex
        await terminal.untilColoured(/\x1b\[32m(?:\x1b\[49m)?● Running/);
        await terminal.resize(100, 30);
        await terminal.keys("?");
        await terminal.until("Help: workshop");
        await terminal.keys("Escape");
        await terminal.until("Pod id");
        await terminal.keys("Escape");
        await terminal.until(/^> workshop/m);
        await terminal.keys("q");
        await checkGivenBack(terminal, 0);
      });
    })
  ));
