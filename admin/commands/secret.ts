import { AppError, shown } from "../../server/errors.ts";
import { type Api, read } from "../client/api.ts";
import { asOperator, pathPart, withOrg } from "./connected.ts";
import { prefixOf } from "./org.ts";
import type { Shell } from "./shell.ts";
import { shortTime } from "./text.ts";

const MAX_SECRET = 65_536;

/** `orgpods org secret set`: the value comes from standard input, because arguments are seen by everybody. */
export async function setSecret(
  shell: Shell,
  prefix: string,
  name: string,
  flags: { readonly replace?: boolean },
): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix), name: pathPart(name, "The name of the secret") };
  const replace = flags.replace === true;
  if (shell.options.server !== undefined) {
    return await asOfficer(shell, param, async (api, org) => {
      const json = { api_key: await readSecret(shell, `The value of ${name}`), replace };
      const answer = await read(api.org.integrations.runpod.$put({ param: { org }, json }));
      await shell.say(`RunPod accepted the key: the account has ${answer.value.pods} pods.`);
      await shell.result(answer, ({ last4 }) => `${name} ...${last4}`);
    });
  }
  await asOperator(shell, "org secret set", async (api) => {
    const json = { value: await readSecret(shell, `The value of ${name}`), replace };
    const answer = await read(api.operator.orgs[":prefix"].secrets[":name"].$put({ param, json }));
    await shell.say(`RunPod accepted the key: the account has ${answer.value.pods} pods.`);
    await shell.result(answer, (stored) => `${stored.name} ...${stored.last4}`);
  });
}

export async function unsetSecret(
  shell: Shell,
  prefix: string,
  name: string,
  flags: { readonly force?: boolean },
): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix), name: pathPart(name, "The name of the secret") };
  const query = { force: flags.force ? "true" : "false" } as const;
  if (shell.options.server !== undefined) {
    return await asOfficer(shell, param, async (api, org) => {
      const answer = await read(api.org.integrations.runpod.$delete({ param: { org }, query }));
      await shell.result(answer, ({ removed }) => removed ? name : "");
    });
  }
  await asOperator(shell, "org secret unset", async (api) => {
    const answer = await read(api.operator.orgs[":prefix"].secrets[":name"].$delete({ param, query }));
    await shell.result(answer, ({ removed }) => removed);
  });
}

/** `orgpods org secret show`: whether it is set, and its last four characters. */
export async function showSecret(shell: Shell, prefix: string, name: string): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix), name: pathPart(name, "The name of the secret") };
  await asOfficer(shell, param, async (api, org) => {
    const answer = await read(api.org.integrations.runpod.$get({ param: { org } }));
    if (!answer.value.configured) await shell.say(`There is no ${name}.`);
    await shell.result(
      answer,
      ({ configured, last4, updated_at }) => configured ? `${name} ...${last4} ${shortTime(updated_at)}` : "",
    );
  });
}

/** `orgpods org secret test`: asks RunPod with the stored key, and prints how many pods its account has. */
export async function testSecret(shell: Shell, prefix: string, name: string): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix), name: pathPart(name, "The name of the secret") };
  await asOfficer(shell, param, async (api, org) => {
    const answer = await read(api.org.integrations.runpod.test.$post({ param: { org } }));
    await shell.say(answer.value.message);
    await shell.result(answer, ({ pods }) => String(pods));
  });
}

/** By the API of one organization, which officers have from anywhere; it knows the RunPod key alone. */
async function asOfficer(
  shell: Shell,
  { prefix, name }: { readonly prefix: string; readonly name: string },
  work: (api: Api, org: string) => Promise<void>,
): Promise<void> {
  if (name !== "runpod_api_key") {
    throw new AppError("usage", `The secret must be runpod_api_key: ${shown(name)}`);
  }
  await withOrg({ ...shell, options: { ...shell.options, org: prefix } }, work);
}

/** `orgpods secrets rotate`: everything encrypted anew with the first key of SECRETS_KEY. */
export async function rotate(shell: Shell): Promise<void> {
  await asOperator(shell, "secrets rotate", async (api) => {
    const answer = await read(api.operator.secrets.rotate.$post());
    await shell.result(answer, ({ rotated, total }) => `${rotated} of ${total} encrypted anew`);
    await shell.say("Everything is encrypted with the first key of SECRETS_KEY; the others can be dropped.");
  });
}

/**
 * Reads one line from standard input, or from a terminal that does not show it. `file` is the file of the example in the
 * refusal. Throws `AppError("usage")`.
 */
export async function readSecret(
  shell: Shell,
  what: string,
  file = "key.txt",
): Promise<string> {
  let text: string | null;
  if (shell.stdio.isTerminal) {
    // What is typed as soon as the question stands there must not be drawn either.
    const typed = shell.stdio.readLine(true);
    await shell.stdio.err(`${what} (it is not shown): `);
    text = await typed;
    await shell.stdio.err("\n");
    if (text === null) throw new AppError("usage", "Nothing was typed, and nothing was changed");
  } else {
    text = await shell.stdio.readAll(MAX_SECRET);
    if (text === null) throw new AppError("usage", `${what} on standard input is longer than ${MAX_SECRET} bytes`);
  }
  const value = text.trim();
  if (value === "") throw new AppError("usage", `${what} is missing on standard input; send it from a file: < ${file}`);
  if (/[\r\n]/.test(value)) throw new AppError("usage", `${what} on standard input must be one line`);
  return value;
}
