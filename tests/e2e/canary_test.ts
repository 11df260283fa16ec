/**
 * A whole life of a server, from init to its end, with known secrets; afterwards none of them may be found in anything it
 * printed, answered or wrote.
 */
import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { Database } from "../../db/database.ts";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../server/clock.ts";
import { type DataDir, dataDirAt } from "../../server/data_dir.ts";
import { GUILD, MEMBER, OFFICER, OFFICER_ROLE } from "../../server/demo/people.ts";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { createSecretBox, parseSecretKeys } from "../../server/identity/secret_box.ts";
import { randomText } from "../../server/identity/tokens.ts";
import { silentLog } from "../../server/log.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import { formatPrivateKey, generateKeyPair, parsePrivateKey, publicLine } from "../../server/ssh/private_key.ts";
import { codingsOf, findLeaks, type Place, placeText, type Secret, secretText } from "../support/leaks.ts";
import { runProgram } from "../support/process.ts";
import { type CallOptions, type Reply, type Server, startServe, untilTrue } from "../support/server_process.ts";
import { BASE_URL, type Standins, startStandins } from "../support/standins.ts";

/** Everything that a run makes known, and everything that came out of it. */
interface Run {
  readonly standins: Standins;
  readonly dir: DataDir;
  readonly secrets: Secret[];
  readonly places: Place[];
  /** A shell command; what it prints is a place, its standard output only where it is not the secret itself. */
  shell(
    args: readonly string[],
    options?: { readonly input?: string; readonly printsSecret?: boolean },
  ): Promise<string>;
}

async function withRun(use: (run: Run) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  await Deno.chmod(folder, 0o755); // The pods' commands run as another user.
  const podHost = createInProcessHost({ folder: `${folder}/pods`, log: silentLog, clock: systemClock });
  const standins = await startStandins({ podHost });
  const places: Place[] = [];
  const dir = dataDirAt(`${folder}/data`);
  try {
    await use({
      standins,
      dir,
      places,
      secrets: Object.entries(standins.secrets).map(([name, value]) => secretText(name, value)),
      async shell(args, { input, printsSecret = false } = {}) {
        const env = standins.env;
        const all = ["--data-dir", dir.path, ...args];
        const done = await runProgram("main.ts", { args: all, env, ...(input === undefined ? {} : { input }) });
        assert.equal(done.code, 0, done.stderr);
        places.push(placeText(`stderr of ${args.join(" ")}`, done.stderr));
        if (!printsSecret) places.push(placeText(`stdout of ${args.join(" ")}`, done.stdout));
        return done.stdout.trim();
      },
    });
  } finally {
    await standins.close();
    await podHost.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The files of the data directory but for the settings, which hold SECRETS_KEY on purpose. */
function dataFiles(dir: DataDir): Place[] {
  return [...Deno.readDirSync(dir.path)]
    .filter((entry) => entry.isFile && `${dir.path}/${entry.name}` !== dir.envFile)
    .map((entry) => ({ name: entry.name, bytes: Deno.readFileSync(`${dir.path}/${entry.name}`) }));
}

/** SECRETS_KEY out of the settings file, and with it the org's private keys out of the database. */
function keysAtRest({ dir }: Run): Secret[] {
  const text = /^SECRETS_KEY=(\S+)$/m.exec(Deno.readTextFileSync(dir.envFile))![1]!;
  const box = createSecretBox(parseSecretKeys(text));
  const file = new DatabaseSync(dir.database, { readOnly: true });
  try {
    const rows = file.prepare("select kind, fingerprint, private_key from compute_keys where org_id = 1").all();
    assert.deepEqual(rows.map((row) => row.kind).sort(), ["backend", "user_ca"]);
    const keys = rows.map((row) => {
      const place = { orgId: 1, kind: "key", name: `${row.kind}/${row.fingerprint}` } as const;
      const pem = box.open(place, String(row.private_key));
      return { name: `private key ${row.kind}`, bytes: parsePrivateKey(pem).seed };
    });
    // The product's own way to the key gives the same one, so this is the key that signs.
    const own = createOrgKeys(new Database(file), box, systemClock).backendPrivateKey(1);
    assert.ok(keys.some((key) => Buffer.from(key.bytes).equals(parsePrivateKey(own).seed)));
    return [
      secretText("SECRETS_KEY", text),
      { name: "SECRETS_KEY decoded", bytes: Buffer.from(text, "base64url") },
      ...keys,
    ];
  } finally {
    file.close();
  }
}

/** Calls whose answers are places. */
function recorder(server: Server, places: Place[]) {
  return async (method: string, path: string, options: CallOptions = {}): Promise<Reply> => {
    const answer = await server.call(method, path, options);
    const headers = JSON.stringify([...answer.headers]);
    places.push(placeText(`answer ${answer.status} to ${method} ${path.slice(0, 60)}`, headers + answer.text));
    return answer;
  };
}

/** A browser that signs in at the stand-in; gives the last page, and records every cookie as a secret. */
async function signIn(
  run: Run,
  server: Server,
  purpose: string,
  discordId: string,
  outcome = "approve",
): Promise<Reply> {
  const { standins, secrets } = run;
  const cookieOf = (answer: Reply) => {
    const [pair] = answer.headers.get("set-cookie")?.split(";") ?? [];
    if (pair?.includes("=")) {
      secrets.push(secretText(`cookie of the ${purpose} sign-in`, pair.slice(pair.indexOf("=") + 1)));
    }
    return pair ?? "";
  };
  const started = await server.call("GET", `/api/compute/demo/${purpose}/login`);
  const authorize = started.headers.get("location")!;
  secrets.push(secretText("state of a sign-in", new URL(authorize).searchParams.get("state")!));
  const chosen = await fetch(`${standins.discordOrigin}/_demo/sign-in`, {
    method: "POST",
    headers: { "x-demo-secret": standins.demoSecret, "content-type": "application/json" },
    body: JSON.stringify({ authorize_url: authorize, user_id: discordId, outcome }),
  });
  const { location } = await chosen.json() as { location: string };
  assert.ok(location.startsWith(`${BASE_URL}/`), location);
  const cookie = cookieOf(started);
  const ended = await server.call("GET", location.slice(BASE_URL.length), { headers: { cookie } });
  cookieOf(ended);
  return ended;
}

const API = "/api/compute/demo";

/** What people do on a good day. */
async function goodDay(
  run: Run,
  server: Server,
): Promise<{ officer: string; member: string; podId: string; env: string }> {
  const { shell, secrets, places, standins } = run;
  await shell(["org", "add", "demo", "--name", "Demo Society", "--guild", GUILD, "--officer-role", OFFICER_ROLE]);
  await shell(["org", "secret", "set", "demo", "runpod_api_key"], { input: standins.secrets.runpodKey });
  const officer = await shell(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id], {
    printsSecret: true,
  });
  const member = await shell(["token", "issue", "--kind", "cli", "--discord-id", MEMBER.id], { printsSecret: true });
  const officerCli = await signIn(run, server, "cli", OFFICER.id);
  const cliToken = /plat_[\w-]{43}/.exec(officerCli.text)![0];
  for (const token of [officer, member, cliToken]) {
    assert.match(token, /^plat_[\w-]{43}$/);
    secrets.push(secretText("token", token));
  }
  const session = await signIn(run, server, "session", MEMBER.id);
  assert.equal(session.status, 302);

  const env = `canary/${randomText()}+= "&%ü`;
  secrets.push(secretText("env value", env));
  const call = recorder(server, places);
  const body = { name: "lab", use_cpu_only: true, is_public: true, env: { WANDB_API_KEY: env } };
  const made = await call("POST", `${API}/pods`, { token: officer, body });
  const podId: string = made.json.pod.id;
  assert.equal(standins.runpod.pods.get(podId).env.WANDB_API_KEY, env);
  await untilTrue(
    "the backend key logs in",
    async () => (await call("GET", `${API}/pods`, { token: officer })).json.pods[0].reachable,
  );
  const publicKey = publicLine(generateKeyPair().publicKey, "somebody");
  for (const [token, isAdmin] of [[member, false], [cliToken, true]] as const) {
    const answer = await call("POST", `${API}/me/pods/${podId}/connect`, { token, body: { public_key: publicKey } });
    assert.deepEqual([answer.status, answer.json.ssh_info?.is_admin], [200, isAdmin], answer.text);
  }
  for (const path of ["/me", "/me/pods", "/tokens", "/integrations/runpod", "/attention", "/settings"]) {
    const token = path.startsWith("/me") ? member : officer;
    assert.equal((await call("GET", API + path, { token })).status, 200, path);
  }
  await shell(["pod", "list"]);
  await shell(["token", "list"]);
  await shell(["secrets", "rotate"]);
  return { officer, member, podId, env };
}

/** What people do wrong, secrets in hand. */
async function mistakes(
  run: Run,
  server: Server,
  day: { officer: string; member: string; podId: string; env: string },
) {
  const { secrets, places } = run;
  const { officer, member, podId, env } = day;
  const call = recorder(server, places);
  const wrongKey = `rpa_${randomText()}`;
  const pair = generateKeyPair();
  secrets.push(secretText("refused RunPod key", wrongKey), { name: "a member's private key", bytes: pair.seed });
  const pem = formatPrivateKey(pair, "oops");
  const create = (body: unknown) => call("POST", `${API}/pods`, { token: officer, body });
  const refused: [number, Promise<Reply>][] = [
    [400, create({ env: { "not a name": env } })],
    [400, create({ env: { RUNPOD_TOKEN: env } })],
    [400, create({ env: [env] })],
    [400, create({ env })],
    [400, create({ env: { A: { B: env } } })],
    [400, create({ name: `${env}${"x".repeat(100)}` })],
    [400, create(`{"env": {"A": "${env}`)],
    [400, call("PUT", `${API}/integrations/runpod`, { token: officer, body: { api_key: `${wrongKey} with blanks` } })],
    [400, call("PUT", `${API}/integrations/runpod`, { token: officer, body: { api_key: wrongKey } })],
    [400, call("POST", `${API}/me/pods/${podId}/connect`, { token: member, body: { public_key: pem } })],
    [400, call("POST", `${API}/me/pods/${podId}/connect`, { token: member, body: `"${pem}"` })],
    [401, call("GET", `${API}/pods`, { token: member })],
    [401, call("GET", `${API}/me/pods`, { token: officer })],
    [401, call("GET", `${API}/pods`, { token: `${officer}x` })],
    [401, call("GET", `${API}/pods`, { headers: { authorization: `Basic ${officer}` } })],
    [405, call("PATCH", `${API}/pods`, { token: officer, body: { env } })],
  ];
  for (const [status, reply] of refused) {
    const answer = await reply;
    assert.equal(answer.status, status, answer.text);
  }
  const operator = await server.operator("PUT", "/api/operator/orgs/demo/secrets/runpod_api_key", {
    value: ` ${wrongKey} x`,
  });
  assert.equal(operator.status, 400);
  places.push(placeText("answer to the operator", operator.text));
}

/** RunPod and Discord fail in the ways they know. */
async function badDay(run: Run, server: Server, day: { officer: string; podId: string; env: string }) {
  const { standins, places } = run;
  const { officer, podId, env } = day;
  const call = recorder(server, places);
  const body = { use_cpu_only: true, env: { WANDB_API_KEY: env } };
  const runpodFaults = [
    { fault: "F10", variant: "plain", on: "POST /pods" },
    { fault: "F11", variant: "forbidden", on: "POST /pods" },
    { fault: "F33", variant: "error", on: "POST /pods", status: 400 },
    { fault: "F34", variant: "410", on: "POST /pods" },
    { fault: "F1", variant: "401", on: "POST /pods" },
  ];
  for (const fault of runpodFaults) {
    standins.runpod.faults.on({ ...fault, times: 1 });
    const answer = await call("POST", `${API}/pods`, { token: officer, body });
    assert.ok(answer.status >= 400, `${fault.fault}: ${answer.text}`);
  }
  standins.runpod.faults.on({ fault: "F13", variant: "cut", ms: 0, on: "POST /pods", times: 1 });
  assert.equal((await call("POST", `${API}/pods`, { token: officer, body })).status, 201);
  standins.runpod.faults.on({ fault: "F34", variant: "refused-like", on: `POST /pods/${podId}/action` });
  standins.runpod.faults.on({ fault: "F33", variant: "html-200", on: `GET /pods/${podId}` });
  const act = { token: officer, body: { action: "stop" } };
  assert.equal((await call("POST", `${API}/pods/${podId}/action`, act)).json.code, "runpod_unavailable");
  assert.equal((await call("GET", `${API}/pods/${podId}`, { token: officer })).status, 424);
  standins.runpod.faults.clear();
  standins.runpod.faults.on({ fault: "F31", variant: "minute", on: "POST /pods", times: 1 });
  assert.equal((await call("POST", `${API}/pods`, { token: officer, body })).json.code, "runpod_rate_limited");

  for (
    const [fault, variant] of [["D4", "invalid_client"], ["D5", "invalid_grant"], ["D7", "no_identify"], [
      "D9",
      "bad_token",
    ]]
  ) {
    standins.discord.faults.set({ fault: fault!, variant: variant!, times: 1 });
    const page = await signIn(run, server, "cli", MEMBER.id);
    assert.ok(page.status >= 400, `${fault} ${page.text}`);
    places.push(placeText(`page after ${fault}`, page.text));
  }
  for (const outcome of ["cancel", "wrong_state", "wrong_code", "html_description"]) {
    const page = await signIn(run, server, "officer", OFFICER.id, outcome);
    assert.ok(page.status >= 400, `${outcome} ${page.text}`);
    places.push(placeText(`page after ${outcome}`, page.text));
  }
  standins.discord.faults.set({ fault: "D20", variant: "cut", times: 1 });
  places.push(placeText("page without Discord", (await signIn(run, server, "cli", MEMBER.id)).text));
  standins.discord.faults.set({ fault: "D10", variant: "unauthorized" });
  places.push(placeText("page after D10", (await signIn(run, server, "cli", MEMBER.id)).text));
  standins.discord.faults.clear();
}

Deno.test("no secret is found in what serve prints, answers and writes", async (t) => {
  await withRun(async (run) => {
    const { dir, places, secrets, standins, shell } = run;
    await shell(["init"]);
    const server = await startServe(dir, { env: standins.env });
    try {
      const day = await goodDay(run, server);
      await mistakes(run, server, day);
      await badDay(run, server, day);
      const audit = await recorder(server, places)("GET", `${API}/audit?limit=500`, { token: day.officer });
      assert.ok(audit.json.audit.length > 10);
      places.push(...dataFiles(dir));
      assert.ok(
        places.some((place) => place.name === "orgpods.sqlite-wal"),
        "the files were read while the server ran",
      );
      server.program.kill("SIGTERM");
      assert.equal((await server.program.ended()).code, 0);
    } finally {
      await server.close();
    }
    places.push(...dataFiles(dir).map(({ name, bytes }) => ({ name: `${name} at the end`, bytes })));
    places.push(placeText("stdout of serve", server.program.stdout()));
    places.push(placeText("stderr of serve", server.program.stderr()));
    secrets.push(...keysAtRest(run));
    const atDiscord = standins.discord.secretsIssued();
    assert.ok(atDiscord.length >= 10, "codes and tokens of several sign-ins");
    secrets.push(...atDiscord.map((value) => secretText("code or token of Discord", value)));
    assert.ok(server.program.stderr().includes('"level":"warn"'), "the log has something to leak");
    assert.deepEqual(findLeaks(secrets, places), []);

    await t.step("and one that is planted is found in every coding", () => {
      const log = new TextEncoder().encode(server.program.stderr());
      for (const secret of secrets) {
        for (const { coding, text } of codingsOf(secret.bytes)) {
          const bytes = Buffer.concat([log, Buffer.from(`x${text}x`, "latin1"), log]);
          assert.notDeepEqual(findLeaks([secret], [{ name: "copy", bytes }]), [], `${secret.name} as ${coding}`);
        }
      }
      const file = dataFiles(dir).find((place) => place.name === "orgpods.sqlite")!;
      file.bytes.set(secrets[0]!.bytes, file.bytes.length >> 1);
      assert.deepEqual(findLeaks(secrets, [file]), [`${secrets[0]!.name} as raw in orgpods.sqlite`]);
    });
  });
});

Deno.test("findLeaks finds a part of a secret, broken lines and text around it, and no display prefix", () => {
  const token = `plat_${randomText()}`;
  const secret = secretText("token", token);
  const found = (text: string) => findLeaks([secret], [placeText("log", text)]).length > 0;
  assert.ok(found(`a log line with ${token.slice(10, 40)}, cut off`));
  for (const before of ["", "a", "ab", "abc"]) {
    const coded = Buffer.from(`${before}${token} and more`).toString("base64");
    assert.ok(found(`{"k":"${coded}"}`), before);
    assert.ok(found(coded.replace(/.{20}/g, "$&\n")), "broken into lines");
    assert.ok(found(JSON.stringify({ pem: coded.replace(/.{20}/g, "$&\n") })), "line ends as a log writes them");
  }
  assert.ok(!found(`display ${token.slice(0, 11)}`));
  assert.ok(!found(Buffer.from(token.slice(0, 11)).toString("base64")));
});
