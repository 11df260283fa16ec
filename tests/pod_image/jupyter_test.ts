import assert from "node:assert/strict";
import { eventually, type PodScene, ssh, withSshdPod } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { asRoot, ignorePods } from "./support.ts";

const ignore = ignorePods || lacks("python3");

/** Takes the options the launcher gives, and lets in who has the token; `~/not-yet` makes it end at once, one time. */
const STAND_IN = `#!/usr/bin/python3
import http.server, os, sys
from urllib.parse import urlparse, parse_qs
given = dict(one.removeprefix("--").split("=", 1) for one in sys.argv[1:] if "=" in one)
assert given["port-retries"] == "0" and "--no-browser" in sys.argv
once = os.path.expanduser("~/not-yet")
if os.path.exists(once):
    os.remove(once)
    sys.exit("the port is already in use")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        token = parse_qs(urlparse(self.path).query).get("token")
        self.send_response(200 if token == [os.environ["JUPYTER_TOKEN"]] else 403)
        self.end_headers()
        self.wfile.write(f"{os.getcwd()} {os.getuid()} {os.umask(0):o}".encode())
http.server.HTTPServer((given["ip"], int(given["port"])), Handler).serve_forever()
`;

async function install({ address, org }: PodScene): Promise<void> {
  const command = "mkdir -p /opt/jupyter/bin && cd /opt/jupyter/bin && cat >jupyter-lab && chmod 755 jupyter-lab";
  assert.equal((await ssh(address, org.backend, { command, input: STAND_IN })).code, 0);
}

/** Prints how many servers run. */
const COUNT = "pgrep -c -f bin/[j]upyter-lab || true";

interface Shown {
  readonly url: string;
  readonly port: number;
}

/** Calls the launcher and reads what it shows. */
async function started({ address }: PodScene, key: string): Promise<Shown> {
  const { code, out, err } = await ssh(address, key, { command: "godfather-jupyter" });
  assert.equal(code, 0, err);
  assert.match(out, /^JupyterLab runs on this pod, for you alone\./);
  const [, from, to] = /ssh -N -L (\d+):127\.0\.0\.1:(\d+) <pod>/.exec(out)!;
  const [url] = /http:\/\/127\.0\.0\.1:\d+\/lab\?token=[0-9a-f]{48}/.exec(out)!;
  assert.equal(from, to);
  assert.equal(new URL(url).port, from);
  return { url, port: Number(to) };
}

async function get(url: string): Promise<[number, string]> {
  const answer = await fetch(url);
  return [answer.status, await answer.text()];
}

Deno.test({
  name:
    "godfather-jupyter starts one server per member with a port and a token of its own, shows it again, and stops it",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async (scene) => {
      await install(scene);
      const { org, address } = scene;
      const [bob, eve] = [await org.member("pod1", "bob"), await org.member("pod1", "eve")];
      const mine = await started(scene, bob);
      assert.deepEqual(await get(mine.url), [200, "/workspace/users/bob 20000 22"]);
      assert.equal((await get(mine.url.replace(/token=.*/, "token=")))[0], 403);
      assert.deepEqual(await started(scene, bob), mine);

      const hers = await started(scene, eve);
      assert.notEqual(hers.port, mine.port);
      assert.equal((await get(hers.url.replace(/token=.*/, new URL(mine.url).search.slice(1))))[0], 403);
      const token = new URL(mine.url).searchParams.get("token")!;
      const look = await ssh(address, eve, { command: `ps -eo args=; cat /workspace/users/bob/.godfather-jupyter/*` });
      assert.match(look.out, /jupyter-lab --no-browser/);
      assert.ok(!look.out.includes(token), "the token is nobody else's");
      const modes = await asRoot(address, org, "cd /workspace/users/bob/.godfather-jupyter && stat -c %a . *");
      assert.equal(modes, "700\n600\n600\n600\n");

      const stop = await ssh(address, bob, { command: "godfather-jupyter stop" });
      assert.deepEqual([stop.code, stop.out], [0, "JupyterLab has ended.\n"]);
      await assert.rejects(fetch(mine.url));
      assert.equal((await get(hers.url))[0], 200);
      const twice = await ssh(address, bob, { command: "godfather-jupyter stop" });
      assert.deepEqual([twice.code, twice.err], [1, "godfather-jupyter: nothing is running\n"]);
    }),
});

Deno.test({
  name: "godfather-jupyter tries another port, starts anew after an end, and makes one server of two calls at once",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async (scene) => {
      await install(scene);
      const { org, address } = scene;
      const key = await org.member("pod1", "bob");
      await ssh(address, key, { command: "touch not-yet" });
      const both = await Promise.all([started(scene, key), started(scene, key)]);
      assert.deepEqual(both[0], both[1]);
      assert.equal((await ssh(address, key, { command: "ls not-yet" })).code, 2);

      await asRoot(address, org, "pkill -KILL -f bin/[j]upyter-lab");
      await eventually("it has ended", async () => (await asRoot(address, org, COUNT)) === "0\n");
      const again = await started(scene, key);
      assert.notEqual(again.url, both[0].url);
      assert.equal((await get(again.url))[0], 200);
    }),
});

Deno.test({
  name: "godfather-jupyter says in one sentence when there is no Jupyter, when it does not start, and to root",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async (scene) => {
      const { org, address } = scene;
      const key = await org.member("pod1", "bob");
      const said = async (as: string, command = "godfather-jupyter") => {
        const { code, out, err } = await ssh(address, as, { command });
        return [code, out + err];
      };
      const missing = "Jupyter is not installed on this pod; install it with: pip install jupyterlab";
      assert.deepEqual(await said(key), [1, `godfather-jupyter: ${missing}\n`]);
      await asRoot(
        address,
        org,
        "mkdir -p /opt/jupyter/bin && cd /opt/jupyter/bin && echo 'echo broken; exit 1' >jupyter-lab && chmod 755 jupyter-lab",
      );
      assert.deepEqual(await said(key), [1, "godfather-jupyter: JupyterLab does not start: broken\n"]);
      const asOfficer = await said(org.backend, "/usr/local/bin/godfather-jupyter");
      assert.deepEqual(asOfficer, [1, "godfather-jupyter: it runs as a member's account only, not as root\n"]);
      assert.deepEqual(await said(key, "godfather-jupyter now"), [2, "usage: godfather-jupyter [start|stop]\n"]);
    }),
});
