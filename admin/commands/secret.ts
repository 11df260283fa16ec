import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { asOperator, pathPart } from "./connected.ts";
import { prefixOf } from "./org.ts";
import type { Shell } from "./shell.ts";

const MAX_SECRET = 65_536;

/** `orgpods org secret set`: the value comes from standard input, because arguments are seen by everybody. */
export async function setSecret(
  shell: Shell,
  prefix: string,
  name: string,
  flags: { readonly replace?: boolean },
): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix), name: pathPart(name, "The name of the secret") };
  await asOperator(shell, "org secret set", async (api) => {
    const json = { value: await readSecret(shell, name), replace: flags.replace === true };
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
  await asOperator(shell, "org secret unset", async (api) => {
    const query = { force: flags.force ? "true" : "false" } as const;
    const answer = await read(api.operator.orgs[":prefix"].secrets[":name"].$delete({ param, query }));
    await shell.result(answer, ({ removed }) => removed);
  });
}

/** `orgpods secrets rotate`: everything encrypted anew with the first key of SECRETS_KEY. */
export async function rotate(shell: Shell): Promise<void> {
  await asOperator(shell, "secrets rotate", async (api) => {
    const answer = await read(api.operator.secrets.rotate.$post());
    await shell.result(answer, ({ rotated, total }) => `${rotated} of ${total} encrypted anew`);
    await shell.say("Everything is encrypted with the first key of SECRETS_KEY; the others can be dropped.");
  });
}

/** Reads one line from standard input, or from a terminal that does not show it. Throws `AppError("usage")`. */
export async function readSecret(shell: Shell, name: string): Promise<string> {
  let text: string | null;
  if (shell.stdio.isTerminal) {
    await shell.stdio.err(`Value of ${name} (it is not shown): `);
    text = await shell.stdio.readLine(true);
    await shell.stdio.err("\n");
    if (text === null) throw new AppError("usage", "No value was typed; nothing was changed");
  } else {
    text = await shell.stdio.readAll(MAX_SECRET);
    if (text === null) throw new AppError("usage", `The value on standard input is longer than ${MAX_SECRET} bytes`);
  }
  const value = text.trim();
  if (value === "") throw new AppError("usage", "Send the value on standard input, for example from a file: < key.txt");
  if (/[\r\n]/.test(value)) throw new AppError("usage", "The value on standard input must be one line");
  return value;
}
