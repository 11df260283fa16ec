import { isAbsolute, resolve } from "node:path";
import { SECOND } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import { createApi, read } from "../client/api.ts";
import { connectRemote, originOf } from "../client/remote.ts";
import { assignAliases, hostNames } from "../member_ssh/aliases.ts";
import { configText } from "../member_ssh/config_text.ts";
import { identityFor } from "../member_ssh/identity.ts";
import {
  addInclude,
  hasInclude,
  includeLine,
  makeRoot,
  removeInclude,
  removeRoot,
  userConfig,
} from "../member_ssh/include_line.ts";
import { godfatherConfig, memberToken, type TokenSource } from "../member_ssh/member_token.ts";
import { ownCommand } from "../member_ssh/own_command.ts";
import { type OrgPlaces, orgPlaces, type Places, placesOf, plainPath } from "../member_ssh/places.ts";
import { makePrivateFolder, removeIfThere, replaceFile, withLock } from "../member_ssh/private_file.ts";
import { orgsHere, readSettings, writeSettings } from "../member_ssh/settings.ts";
import type { Shell } from "./shell.ts";
import { table } from "./text.ts";

const ANSWER_MS = 20 * SECOND;

export interface SshConfigFlags {
  readonly identity?: string;
  readonly yes?: boolean;
  readonly remove?: boolean;
}

/**
 * `orgpods ssh-config`: gives ssh a name for every pod the member may use. Prints the names. With `--remove` takes
 * everything away again.
 */
export async function sshConfig(shell: Shell, flags: SshConfigFlags): Promise<void> {
  const places = placesOf(shell.env("HOME"));
  if (flags.remove) return await remove(shell, places);
  const command = ownCommand().map((word) => plainWord(word));
  const member = await whoIsIt(shell, places);
  const own = orgPlaces(places, member.org);
  const token = member.token ?? await memberToken(member.source, { home: places.home, ...member });
  const api = createApi(connectRemote({ url: member.server, token, answerMs: ANSWER_MS }));
  const { pods } = (await read(api.org.me.pods.$get({ param: { org: member.org }, query: { state: "all" } }))).value;

  await makeRoot(places);
  const aliases = await withLock(`${places.root}/lock`, async () => {
    await makePrivateFolder(own.folder);
    const before = await readSettings(own);
    const identity = await identityFor(own, flags.identity, before?.identity ?? null);
    const source: TokenSource = member.token === null ? member.source : { from: "file", path: own.token };
    if (member.token !== null) await replaceFile(own.token, `${member.token}\n`);
    const taken = await otherNames(places, member.org);
    const aliases = assignAliases(member.org, pods, before?.aliases ?? {}, taken);
    await writeSettings(own, { server: member.server, org: member.org, token: source, identity, aliases });
    await replaceFile(
      own.config,
      configText({ org: member.org, server: member.server, places: own, identity, aliases, command }),
    );
    await removeLeftovers(own, aliases);
    return aliases;
  });
  if (member.token !== null) await shell.say(`The token is kept in ${own.token}: ssh starts orgpods without it.`);
  for (const { id, name } of pods) {
    if (aliases[id] === undefined) await shell.say(`warning: The pod ${name} (${id}) cannot have a name for ssh.`);
  }
  await include(shell, places, own, flags.yes === true);
  await show(shell, own, pods, aliases);
}

async function show(
  shell: Shell,
  { config }: OrgPlaces,
  pods: readonly { readonly id: string; readonly name: string; readonly status: string }[],
  aliases: Readonly<Record<string, string>>,
): Promise<void> {
  const hosts = pods.flatMap(({ id, name, status }) => {
    const host = aliases[id];
    return host === undefined ? [] : [{ host, pod_id: id, name, status }];
  });
  if (shell.options.json) return await shell.print(JSON.stringify({ config, hosts }));
  if (hosts.length === 0) await shell.say("You may not use any pods yet; run this again when you may.");
  else {await shell.print(
      table(["HOST", "POD", "STATUS"], hosts.map(({ host, pod_id, status }) => [host, pod_id, status])),
    );}
}

interface Member {
  readonly org: string;
  /** An origin. */
  readonly server: string;
  readonly source: TokenSource;
  /** The token, where it was given in the environment. */
  readonly token: string | null;
}

/** Server, org and token: from the options, else from the godfather client, else from what was set up before. */
async function whoIsIt(shell: Shell, places: Places): Promise<Member> {
  const { options } = shell;
  const godfather = await godfatherConfig(places.home);
  const org = options.org ?? godfather.org;
  if (org === null) throw notNamed();
  const before = await readSettings(orgPlaces(places, org));
  const url = options.server ?? (godfather.org === org ? godfather.server : null) ?? before?.server;
  if (url === undefined || url === null) throw notNamed();
  const server = originOf(url);
  const given = shell.env("ORGPODS_TOKEN")?.trim();
  if (options.tokenFile !== undefined) {
    const path = isAbsolute(options.tokenFile) ? options.tokenFile : resolve(options.tokenFile);
    return { org, server, source: { from: "file", path }, token: null };
  }
  if (given !== undefined && given !== "") {
    if (!/^plat_[\x21-\x7e]{8,200}$/.test(given)) {
      throw new AppError("usage", "ORGPODS_TOKEN must hold a member's CLI token, which begins with plat_");
    }
    return { org, server, source: { from: "godfather" }, token: given };
  }
  const source: TokenSource = before?.server === server ? before.token : { from: "godfather" };
  return { org, server, source, token: null };
}

function notNamed(): AppError {
  return new AppError("usage", "Name the server and the organization: --server and --org", {
    hint: "Or sign in first: godfather auth --api-url <server> --org <prefix>",
  });
}

function plainWord(word: string): string {
  return word.startsWith("/") ? plainPath(word, "The path of this program") : word;
}

/** Names that mean something else: in the user's own configuration, and for the pods of other orgs. */
async function otherNames(places: Places, org: string): Promise<Set<string>> {
  const names = hostNames(await userConfig(places) ?? "");
  for (const other of await orgsHere(places)) {
    if (other === org) continue;
    const settings = await readSettings(orgPlaces(places, other));
    for (const name of Object.values(settings?.aliases ?? {})) names.add(name);
  }
  return names;
}

/** Files of pods that are gone. */
async function removeLeftovers({ folder }: OrgPlaces, aliases: Readonly<Record<string, string>>): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    const id = /^pod-([A-Za-z0-9_-]+?)(?:-cert\.pub|\.known_hosts|\.json|\.lock)$/.exec(name)?.[1];
    if (id !== undefined && aliases[id] === undefined) await removeIfThere(`${folder}/${name}`);
  }
}

/** The one line in the user's own file: only after a yes. */
async function include(shell: Shell, places: Places, own: OrgPlaces, yes: boolean): Promise<void> {
  if (await hasInclude(places)) return;
  const line = includeLine(places);
  if (!yes && shell.stdio.isTerminal) {
    await shell.stdio.err(`Add this line at the top of ${places.userConfig}?\n  ${line}\n[y/N]: `);
    yes = /^y(es)?$/i.test((await shell.stdio.readLine())?.trim() ?? "");
  }
  if (yes) {
    await addInclude(places);
    await shell.say(`Added to ${places.userConfig}: ${line}`);
    return;
  }
  await shell.say(`Put this line at the top of ${places.userConfig}, or run this again with --yes: ${line}`);
  await shell.say(`Without it: ssh -F ${own.config} <host>`);
}

/** Takes one org away, or all; with the last one the line and the folder too. Needs no server. */
async function remove(shell: Shell, places: Places): Promise<void> {
  const here = await orgsHere(places);
  const { org } = shell.options;
  const gone = org === undefined ? here : here.filter((one) => one === org);
  for (const one of gone) await removeIfThere(`${places.root}/${one}`);
  if ((await orgsHere(places)).length === 0) {
    await removeInclude(places);
    await removeRoot(places);
  }
  if (gone.length === 0) await shell.say("There was nothing to remove.");
  if (shell.options.json) await shell.print(JSON.stringify({ removed: gone }));
  else await shell.print(gone.join("\n"));
}
