/** The moment before the first frame: a server that is away, slow, refuses, or is none, and a token that does not work. */
import assert from "node:assert/strict";
import { Refusal } from "../../admin/client/refusal.ts";
import { namesProxy } from "../../admin/client/remote.ts";
import { createShell, type GlobalOptions, type Shell } from "../../admin/commands/shell.ts";
import type { Stdio } from "../../admin/commands/stdio.ts";
import { firstAnswer } from "../../admin/ui/first_wait.ts";
import { createRemoteAccess } from "../../admin/ui/remote_access.ts";
import { expiryOf, startAdmin } from "../../admin/ui/start.ts";

/** A shell whose talk is kept; whoever asks it for a token gets none. */
function shellOf(options: Partial<GlobalOptions>, env: Record<string, string> = {}): { shell: Shell; said: string[] } {
  const said: string[] = [];
  const stdio: Stdio = {
    out: () => Promise.reject(new Error("Nothing is a result of the admin")),
    err: (text) => Promise.resolve(void said.push(text)),
    readAll: () => Promise.resolve(""),
    readLine: () => Promise.resolve(null),
    isTerminal: true,
    outIsTerminal: true,
    errIsTerminal: true,
    outBytes: () => Promise.resolve(true),
    input: () => new Blob([]).stream(),
  };
  return { shell: createShell({ dataDir: "/nowhere", ...options }, stdio, (name) => env[name]), said };
}

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

type Handler = (request: Request) => Response | Promise<Response>;

async function withServer(answer: Handler, use: (url: string) => Promise<void>, tls: object = {}): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls }, answer);
  try {
    await use(`127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

const TOKEN = { ORGPODS_TOKEN: `plat_${"x".repeat(43)}` };
/** An org of the server that answers 200 with its page. */
const isUp = (request: Request) =>
  new URL(request.url).pathname === "/health" ? Response.json({ status: "ok" }) : new Response("<html></html>");

Deno.test("an admin that the server refuses ends with the exit code of a shell command, in the server's words", async () => {
  for (
    const [status, code, exitCode] of [
      [401, "token_invalid", 4],
      [403, "not_an_officer", 4],
      [403, "word_of_a_newer_server", 4],
      [404, "org_not_found", 3],
      [409, "conflict", 5],
      [429, "rate_limited", 6],
      [500, "internal_error", 1],
      [503, "discord_unavailable", 6],
      [502, undefined, 6],
    ] as const
  ) {
    const answer = () => Response.json({ error: `No: ${status}`, code }, { status });
    await withServer(answer, async (host) => {
      const { shell } = shellOf({ server: `http://${host}`, org: "demo" }, TOKEN);
      const refusal = await refusalOf(startAdmin(shell));
      assert.equal(refusal.message, `No: ${status}`);
      assert.equal(refusal.exitCode, exitCode, `${status} ${code}`);
      assert.equal(refusal.notes.some((note) => note.includes("ORGPODS_TOKEN")), status === 401);
    });
  }
});

Deno.test("an admin asks nobody to sign in where no orgpods server answers, or none with that organization", async () => {
  const cases: readonly (readonly [answer: Handler, exitCode: number, sentence: RegExp])[] = [
    [() => new Response("<html>", { status: 200 }), 6, /is this the address of an orgpods server\?/],
    [() => new Response("<html>", { status: 502 }), 6, /the status 502/],
    [() => Response.redirect("https://elsewhere.example.org/", 302), 6, /answers with a redirect/],
    [
      (request) => request.url.endsWith("/demo") ? new Response("", { status: 404 }) : isUp(request),
      3,
      /^There is no organization demo at http:/,
    ],
  ];
  const home = { HOME: "/nowhere" };
  for (const [answer, exitCode, sentence] of cases) {
    await withServer(answer, async (host) => {
      const { shell, said } = shellOf({ server: `http://${host}`, org: "demo" }, home);
      const refusal = await refusalOf(startAdmin(shell));
      assert.match(refusal.message, sentence);
      assert.equal(refusal.exitCode, exitCode);
      assert.deepEqual(said, []);
    });
  }
  const gone = shellOf({ server: "http://127.0.0.1:4", org: "demo" }, home);
  assert.match((await refusalOf(startAdmin(gone.shell))).message, /^http:\/\/127\.0\.0\.1:4 cannot be reached: /);
  const tls = (name: string) => Deno.readTextFileSync(new URL(`../vectors/tls/${name}`, import.meta.url));
  const untrusted = { cert: tls("localhost.pem"), key: tls("localhost_key.pem") };
  await withServer(isUp, async (host) => {
    const { shell } = shellOf({ server: `https://${host}`, org: "demo" }, home);
    const refusal = await refusalOf(startAdmin(shell));
    assert.match(refusal.message, /cannot be reached: .*certificate/);
    assert.equal(refusal.exitCode, 6);
  }, untrusted);
});

Deno.test("an address that is none, and an organization that is missing or no name, are mistakes of the command line", async () => {
  const cases = [
    [{ server: "pods.example.org", org: "demo" }, /--server must be an address/],
    [{ server: "http://pods.example.org", org: "demo" }, /--server must begin with https/],
    [{ server: "https://pods.example.org/x", org: "demo" }, /without a path/],
    [{ server: "https://pods.example.org" }, /Name the organization: --org/],
    [{ server: "https://pods.example.org", org: "../x" }, /--org must be/],
    [{ tokenFile: "x" }, /--token-file is for another server/],
  ] as const;
  for (const [options, sentence] of cases) {
    await assert.rejects(startAdmin(shellOf(options, { HOME: "/nowhere" }).shell), {
      code: "usage",
      message: sentence,
    });
  }
});

Deno.test("firstAnswer says that it waits, gives up in the end, and passes on what came", async () => {
  const { shell, said } = shellOf({});
  const never = new Promise<never>(() => {});
  const refusal = await refusalOf(firstAnswer(shell, "https://x", never, { sayMs: 1, mostMs: 30 }));
  assert.equal(refusal.message, "https://x did not answer within 0.03 s");
  assert.equal(refusal.exitCode, 6);
  assert.deepEqual(said, ["Waiting for https://x to answer; Ctrl-C gives up.\n"]);
  assert.equal(await firstAnswer(shell, "https://x", Promise.resolve(7)), 7);
  await assert.rejects(firstAnswer(shell, "https://x", Promise.reject(new RangeError("broken"))), RangeError);
  assert.equal(said.length, 1);
});

Deno.test("expiryOf says when a token runs out, and warns in its last week", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  assert.deepEqual(expiryOf("2026-12-08T12:00:00Z", now, "Europe/Berlin"), {
    text: "Your officer token works until Tue 8 Dec 13:00",
    isSoon: false,
  });
  assert.deepEqual(expiryOf("2026-12-06T12:00:00Z", now, "Europe/Berlin"), {
    text: "Your officer token runs out on Sun 6 Dec 13:00; sign in again before then",
    isSoon: true,
  });
});

Deno.test("namesProxy finds the environment's proxy for a server elsewhere, and none for this machine", () => {
  for (const name of ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) {
    const env = (one: string) => one === name ? "http://proxy.example.org:3128" : undefined;
    assert.equal(namesProxy("https://pods.example.org", env), true, name);
    assert.equal(namesProxy("http://127.0.0.1:8080", env), false, name);
  }
  assert.equal(namesProxy("https://pods.example.org", () => ""), false);
});

Deno.test("what cannot be a token is refused before anything is sent, whatever was pasted", async () => {
  const asked: string[] = [];
  const answer = (request: Request) => {
    asked.push(request.url);
    return Response.json({ tokens: [] });
  };
  await withServer(answer, async (host) => {
    const url = `http://${host}`;
    const { shell } = shellOf({ server: url, org: "demo" }, { XDG_CONFIG_HOME: "/nowhere" });
    const access = createRemoteAccess(shell, url);
    for (const text of ["", "plat_", "plat_private\ue000use", "plat_with a space", `plat_${"x".repeat(200)}`]) {
      await assert.rejects(access.check("demo", text), /^Problem: A token is one line of 8 to 200 characters/, text);
    }
    assert.deepEqual(asked, []);
  });
});

Deno.test("a token that works but cannot be kept is used, and the reason is said", async () => {
  const file = await Deno.makeTempFile({ prefix: "orgpods-test-" });
  try {
    await withServer(() => Response.json({ tokens: [] }), async (host) => {
      const url = `http://${host}`;
      // A folder for settings that is a file.
      const { shell } = shellOf({ server: url, org: "demo" }, { XDG_CONFIG_HOME: file });
      const { connection, notKept } = await createRemoteAccess(shell, url).check("demo", TOKEN.ORGPODS_TOKEN);
      assert.equal(connection.baseUrl, url);
      assert.match(notKept ?? "", /^The token works, but it cannot be kept, .*: .+: \w+/);
    });
  } finally {
    await Deno.remove(file);
  }
});
