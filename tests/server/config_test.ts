import assert from "node:assert/strict";
import { loadEnvironment, missingSettings, readConfig } from "../../server/config.ts";
import { AppError } from "../../server/errors.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";

const flags = { dataDir: "/data" };

function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  throw new Error("It was not refused");
}

Deno.test("readConfig takes defaults when nothing is set, and says what is missing", () => {
  const config = readConfig(flags, {});
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.port, 8787);
  assert.equal(config.runpodApiUrl, "https://api.runpod.io/v2");
  assert.equal(config.discordApiUrl, "https://discord.com/api/v10");
  assert.equal(config.podImage, "theaisocietyasu/godfather-base:latest");
  assert.equal(config.cliName, "the compute CLI");
  assert.equal(config.auditRetentionDays, 365);
  assert.equal(missingSettings(config).length, 3);
});

Deno.test("readConfig prefers a flag to the environment, and our names to the original's", () => {
  const env = {
    ORGPODS_PORT: "9000",
    COMPUTE_CLI_NAME: "pods",
    GODFATHER_CLI_NAME: "godfather",
    GODFATHER_POD_IMAGE: "org/image:1",
    SYS_ADMIN: "11111, 22222",
    SUPERADMIN_USER_ID: "33333",
  };
  assert.equal(readConfig({ ...flags, port: 1234 }, env).port, 1234);
  const config = readConfig(flags, env);
  assert.equal(config.port, 9000);
  assert.equal(config.cliName, "pods");
  assert.equal(config.podImage, "org/image:1");
  assert.deepEqual([...config.superadmins], ["11111", "22222", "33333"]);
});

const WRONG: [string, string, string][] = [
  ["ORGPODS_PORT", "http", "ORGPODS_PORT must be a whole number from 0 to 65535"],
  ["ORGPODS_PORT", "70000", "ORGPODS_PORT must be a whole number from 0 to 65535"],
  [
    "ACCOUNTS_BASE_URL",
    "pods.example.org",
    "ACCOUNTS_BASE_URL must be an http or https address without a query",
  ],
  [
    "ACCOUNTS_BASE_URL",
    "http://pods.example.org",
    "ACCOUNTS_BASE_URL must begin with https:// unless it is a loopback address",
  ],
  [
    "ACCOUNTS_BASE_URL",
    "https://a.example/x",
    "ACCOUNTS_BASE_URL must be an address without a path",
  ],
  ["CLIENT_ID", "abc", "CLIENT_ID must be the number of the Discord application"],
  ["SYS_ADMIN", "12345,bob", "SYS_ADMIN must be a comma list of Discord ids"],
  ["AUDIT_RETENTION_DAYS", "0", "AUDIT_RETENTION_DAYS must be a whole number of days from 1 to 36500"],
  ["ORGPODS_WEBHOOKS_ALLOW_PRIVATE", "yes", "ORGPODS_WEBHOOKS_ALLOW_PRIVATE must be true or false"],
  ["ORGPODS_FILE_TEXT_LIMIT", "50000001", "ORGPODS_FILE_TEXT_LIMIT must be a whole number of bytes from 1 to 50000000"],
  [
    "ORGPODS_FILE_TRANSFER_LIMIT",
    "1 GB",
    "ORGPODS_FILE_TRANSFER_LIMIT must be a whole number of bytes from 1 to 10000000000",
  ],
  [
    "ORGPODS_FILE_TRANSFER_LIMIT",
    "10000000001",
    "ORGPODS_FILE_TRANSFER_LIMIT must be a whole number of bytes from 1 to 10000000000",
  ],
  ["ORGPODS_TRUSTED_PROXY", "localhost", "ORGPODS_TRUSTED_PROXY must be a comma list of IP addresses"],
  [
    "COMPUTE_POD_IMAGE",
    "two words",
    "COMPUTE_POD_IMAGE must be an image name of at most 200 characters, with no spaces",
  ],
  [
    "RUNPOD_API_URL",
    "http://127.0.0.1:1/v2",
    "RUNPOD_API_URL must be https://api.runpod.io/v2 unless --allow-test-upstreams is given",
  ],
  ["RUNPOD_API_URL", "https://api.runpod.io/v1", "RUNPOD_API_URL must end in /v2"],
  ["DISCORD_API_URL", "https://discord.com/api", "DISCORD_API_URL must end in /api/v10"],
];

for (const [name, value, sentence] of WRONG) {
  Deno.test(`readConfig stops the start when ${name} is ${value}`, () => {
    const error = refusal(() => readConfig(flags, { [name]: value }));
    assert.equal(error.code, "usage");
    assert.equal(error.message, sentence);
    if (value.length > 3) assert.ok(!error.message.includes(value), "a secret in the wrong line would be shown");
  });
}

Deno.test("readConfig names a malformed SECRETS_KEY and does not show it", () => {
  const error = refusal(() => readConfig(flags, { SECRETS_KEY: `${generateSecretKey()},not-a-key` }));
  assert.match(error.message, /^SECRETS_KEY entry 2 must be 32 bytes/);
  assert.ok(!error.message.includes("not-a-key"));
});

Deno.test("loadEnvironment reads a private env file, under the environment, and SECRETS_KEY from a file", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/orgpods.env`;
    const keyFile = `${folder}/key`;
    const key = generateSecretKey();
    await Deno.writeTextFile(keyFile, `${key}\n`, { mode: 0o600 });
    await Deno.writeTextFile(file, `# note\nBOT_TOKEN="from file"\nCLIENT_ID=1\nSECRETS_KEY_FILE=${keyFile}\n`, {
      mode: 0o600,
    });
    const env = loadEnvironment({ CLIENT_ID: "2", EMPTY: "" }, file, true);
    assert.equal(env.BOT_TOKEN, "from file");
    assert.equal(env.CLIENT_ID, "2");
    assert.equal(env.SECRETS_KEY, key);

    await Deno.chmod(file, 0o644);
    assert.match(refusal(() => loadEnvironment({}, file, true)).message, /can be read by others; run: chmod 600/);
    assert.match(refusal(() => loadEnvironment({}, `${folder}/none`, true)).message, /cannot be read/);
    assert.deepEqual(loadEnvironment({}, `${folder}/none`, false), {});
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
