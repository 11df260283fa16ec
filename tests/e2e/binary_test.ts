/**
 * The compiled program, alone in an empty directory: it starts, runs the demo, and a member gets into a pod. Which binary,
 * the environment says (ORGPODS_BINARY); without one the test is skipped, but not where skips are failures.
 */
import assert from "node:assert/strict";
import type { DemoFacts } from "../../server/demo/start.ts";
import { VERSION } from "../../server/version.ts";
import { run, ssh, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";

const binary = Deno.env.get("ORGPODS_BINARY");
const required = Deno.env.get("ORGPODS_TEST_REQUIRE") === "all";
if (binary === undefined && !required) console.error("skipped: ORGPODS_BINARY names no compiled program");

/** Nothing of a developer's machine: no cache of deno, no settings. */
const bare = (folder: string) => ({ PATH: Deno.env.get("PATH") ?? "", HOME: folder, DENO_DIR: `${folder}/none` });

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
  withFolder(async (folder) => {
    assert.ok(binary, "ORGPODS_BINARY must name the compiled program");
    const home = `${folder}/empty`;
    await Deno.mkdir(home);
    await Deno.copyFile(binary, `${home}/orgpods`);
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
    } finally {
      demo.kill("SIGTERM");
      const { code } = await demo.status;
      assert.equal(code, 0);
    }
    const left = await run("test", ["-e", facts.data_dir]);
    assert.equal(left.code, 1, "the demo removes its data directory");
  }));
