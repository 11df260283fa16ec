import { openDatabase } from "../../db/open.ts";
import { dataDirAt, initDataDir } from "../../server/data_dir.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { refuseRemote } from "./refuse_remote.ts";
import type { Shell } from "./shell.ts";

/** `orgpods init`: makes a data directory and says what to do next. Prints its path. */
export async function init(shell: Shell): Promise<void> {
  refuseRemote(shell, "init");
  const dir = dataDirAt(shell.options.dataDir);
  Deno.umask(0o077);
  const { envFileMade } = initDataDir(dir, generateSecretKey());
  openDatabase(dir.database).close();
  const path = Deno.realPathSync(dir.path);
  await shell.say(
    envFileMade
      ? `Made ${path}/orgpods.env with a new SECRETS_KEY: keep a copy of the key apart from every backup.`
      : `Kept ${path}/orgpods.env as it is.`,
  );
  await shell.say("Next:");
  await shell.say(`  1. Fill in the Discord settings in ${path}/orgpods.env.`);
  await shell.say(`  2. orgpods --data-dir ${path} serve`);
  await shell.say(`  3. orgpods --data-dir ${path} org add <prefix> --name <name> --guild <id> --officer-role <id>`);
  await shell.print(shell.options.json ? JSON.stringify({ data_dir: path, env_file_made: envFileMade }) : path);
}

/** `orgpods secrets keygen`: a new key for `SECRETS_KEY`; nothing is stored. */
export async function keygen(shell: Shell): Promise<void> {
  const key = generateSecretKey();
  await shell.say(
    "To rotate: put it in front of SECRETS_KEY with a comma, start orgpods again, run: orgpods secrets rotate",
  );
  await shell.print(shell.options.json ? JSON.stringify({ secrets_key: key }) : key);
}
