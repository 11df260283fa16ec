import { AppError } from "../../server/errors.ts";
import { type Api, read } from "../client/api.ts";
import { asOperator, onlyOrg, pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime, table } from "./text.ts";

export interface OrgFlags {
  readonly name?: string;
  readonly guild?: string;
  /** `false` stands for `--no-officer-role`: none. */
  readonly officerRole?: readonly string[] | false;
  readonly memberRole?: readonly string[] | false;
  readonly image?: string | false;
  readonly minCuda?: string | false;
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly activate?: boolean;
  readonly deactivate?: boolean;
  readonly force?: boolean;
}

type OrgView = Awaited<ReturnType<Awaited<ReturnType<Api["operator"]["orgs"][":prefix"]["$get"]>>["json"]>>["org"];

/** The prefix as the path takes it; `--org` beside it must name the same. */
export function prefixOf(shell: Shell, prefix: string): string {
  if (shell.options.org !== undefined && shell.options.org !== prefix) {
    throw new AppError("usage", "--org names another organization than the argument");
  }
  return pathPart(prefix, "The organization's prefix");
}

const state = (org: OrgView) => !org.is_active ? "inactive" : org.enabled ? "on" : "off";

function describe(org: OrgView): string {
  return facts([
    ["Prefix", org.prefix],
    ["Name", org.name],
    ["Compute", state(org)],
    ["Discord server", org.guild_id],
    ["Officer roles", org.officer_role_ids.join(", ") || "none: only superadmins are officers"],
    ["Member roles", org.member_role_ids.join(", ") || "none: everybody on the Discord server is a member"],
    ["Pod image", org.pod_image ?? "the server's default"],
    ["Oldest CUDA", org.min_cuda_version ?? "any"],
    ["Added", shortTime(org.created_at)],
  ]);
}

/** The settings of both add and set, as the API takes them. */
function settingsOf(flags: OrgFlags) {
  return {
    ...(flags.officerRole === undefined ? {} : { officer_role_ids: [...flags.officerRole || []] }),
    ...(flags.memberRole === undefined ? {} : { member_role_ids: [...flags.memberRole || []] }),
    ...(flags.minCuda === undefined ? {} : { min_cuda_version: flags.minCuda === false ? null : flags.minCuda }),
    ...(flags.image === undefined ? {} : { pod_image: flags.image === false ? null : flags.image }),
    ...(flags.force ? { force: true } : {}),
  };
}

/** `orgpods org list`: all of them on the server itself; from elsewhere those within the token's reach. */
export async function listOrgs(shell: Shell): Promise<void> {
  if (shell.options.server !== undefined) return await listReach(shell);
  await asOperator(shell, "org list", async (api) => {
    const answer = await read(api.operator.orgs.$get());
    if (answer.value.orgs.length === 0) await shell.say("There is no organization yet; add one: orgpods org add");
    await shell.result(answer, ({ orgs }) =>
      orgs.length === 0 ? "" : table(
        ["PREFIX", "NAME", "COMPUTE", "DISCORD SERVER", "ADDED"],
        orgs.map((org) => [org.prefix, org.name, state(org), org.guild_id, shortTime(org.created_at)]),
      ));
  });
}

async function listReach(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    await shell.result(
      await read(api.org.me.$get({ param: { org } })),
      ({ orgs }) => table(["PREFIX", "NAME"], orgs.map(({ prefix, name }) => [prefix, name])),
    );
  });
}

export async function showOrg(shell: Shell, prefix: string): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix) };
  await asOperator(shell, "org show", async (api) => {
    await shell.result(await read(api.operator.orgs[":prefix"].$get({ param })), ({ org }) => describe(org));
  });
}

export async function addOrg(
  shell: Shell,
  prefix: string,
  flags: OrgFlags & { readonly name: string; readonly guild: string },
): Promise<void> {
  const json = { prefix: prefixOf(shell, prefix), name: flags.name, guild_id: flags.guild, ...settingsOf(flags) };
  await asOperator(shell, "org add", async (api) => {
    await shell.result(await read(api.operator.orgs.$post({ json })), ({ org }) => describe(org));
    await shell.say(`Next, the RunPod key: orgpods org secret set ${prefix} runpod_api_key`);
  });
}

export async function setOrg(shell: Shell, prefix: string, flags: OrgFlags): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix) };
  const json = {
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.guild === undefined ? {} : { guild_id: flags.guild }),
    ...(flags.enable || flags.disable ? { enabled: flags.enable === true } : {}),
    ...(flags.activate || flags.deactivate ? { is_active: flags.activate === true } : {}),
    ...settingsOf(flags),
  };
  if (Object.keys(json).every((key) => key === "force")) {
    throw new AppError("usage", "Name at least one setting to change; see: orgpods org set --help");
  }
  await asOperator(shell, "org set", async (api) => {
    await shell.result(await read(api.operator.orgs[":prefix"].$patch({ param, json })), ({ org }) => describe(org));
  });
}

export async function removeOrg(shell: Shell, prefix: string, flags: { readonly force?: boolean }): Promise<void> {
  const param = { prefix: prefixOf(shell, prefix) };
  await asOperator(shell, "org remove", async (api) => {
    const answer = await read(
      api.operator.orgs[":prefix"].$delete({ param, query: { force: flags.force ? "true" : "false" } }),
    );
    await shell.result(answer, ({ removed }) => removed);
  });
}

/** `orgpods org check`: 1 when something is wrong. */
export async function checkOrg(shell: Shell, named: string | undefined): Promise<number> {
  const prefix = named ?? shell.options.org;
  if (prefix !== undefined) prefixOf(shell, prefix);
  let isGood = true;
  await asOperator(shell, "org check", async (api) => {
    const param = { prefix: prefix ?? await onlyOrg(api) };
    const answer = await read(api.operator.orgs[":prefix"].check.$post({ param }));
    isGood = answer.value.checks.every((check) => check.ok !== false);
    await shell.result(answer, ({ checks }) =>
      table(
        ["", "CHECK", "FOUND"],
        checks.map(({ ok, name, detail }) => [ok === null ? "note" : ok ? "ok" : "BAD", name, detail]),
      ));
    for (const { ok, name, fix } of answer.value.checks) {
      if (ok !== true && fix !== "") await shell.say(`${name}: ${fix}`);
    }
  });
  return isGood ? 0 : 1;
}
