import assert from "node:assert/strict";
import { startDemo } from "../../server/demo/start.ts";
import { silentLog } from "../../server/log.ts";
import { lacks } from "../support/needs.ts";

const README = new URL("../../README.md", import.meta.url);

/** The first code block of a language in the README, without its indentation. */
function block(language: string): string {
  const text = Deno.readTextFileSync(README);
  const found = new RegExp("^( *)```" + language + "\\n([\\s\\S]*?)^ *```", "m").exec(text);
  assert.ok(found, `The README has no ${language} block`);
  return found[2]!.split("\n").map((line) => line.slice(found[1]!.length)).join("\n");
}

function freePort(): number {
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr as Deno.NetAddr;
  probe.close();
  return port;
}

Deno.test("the README's Caddy block passes requests and the client's address on", {
  ignore: lacks("caddy", "curl"),
}, async () => {
  const folder = await Deno.makeTempDir();
  // As in the README's env file: the proxy on this machine is believed.
  const demo = await startDemo({ port: 0, log: silentLog, env: { ORGPODS_TRUSTED_PROXY: "127.0.0.1" } });
  const port = freePort();
  const config = `{\n  admin off\n  auto_https off\n}\n` +
    block("caddyfile").replace("pods.example.org", `http://127.0.0.1:${port}`)
      .replace("127.0.0.1:8787", new URL(demo.facts.url).host);
  await Deno.writeTextFile(`${folder}/Caddyfile`, config);
  const caddy = new Deno.Command("caddy", {
    args: ["run", "--adapter", "caddyfile", "--config", `${folder}/Caddyfile`],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const through = `http://127.0.0.1:${port}`;
    let answer: Response | null = null;
    for (const until = performance.now() + 60_000; answer === null && performance.now() < until;) {
      answer = await fetch(`${through}/health`).catch(() => null);
      if (answer === null) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(answer?.status, 200, "Caddy answers");
    await answer.body?.cancel();
    // The client sits at 127.0.0.5; a forged header of its own must not win over what Caddy says.
    const refused = await new Deno.Command("curl", {
      args: [
        ...["-s", "-o", "/dev/null", "-w", "%{http_code}", "--interface", "127.0.0.5"],
        ...["-H", `Authorization: Bearer plat_${"x".repeat(43)}`, "-H", "X-Forwarded-For: 203.0.113.9"],
        `${through}/api/compute/demo/pods`,
      ],
    }).output();
    assert.equal(new TextDecoder().decode(refused.stdout), "401");
    const audit = await fetch(`${through}/api/compute/demo/audit?limit=1`, {
      headers: { authorization: `Bearer ${demo.facts.officer.token}` },
    });
    const [row] = (await audit.json()).audit;
    assert.equal(row.outcome, "token_invalid");
    assert.equal(row.address, "127.0.0.5");
  } finally {
    caddy.kill("SIGTERM");
    await caddy.status;
    await demo.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the README's two commands are tasks of deno.json", async () => {
  const text = await Deno.readTextFile(README);
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const commands = [...text.matchAll(/^npx -y deno@2\.9\.6 task (\w+)$/gm)].map((match) => match[1]!);
  assert.deepEqual(commands, ["demo", "test"]);
  for (const command of commands) assert.ok(tasks[command], command);
});
