import { read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { refuseRemote } from "./refuse_remote.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface TokenFlags {
  readonly kind: "cli" | "officer";
  readonly discordId: string;
  readonly name?: string;
  readonly days?: number;
}

export async function listTokens(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.tokens.$get({ param: { org } }));
    if (answer.value.tokens.length === 0) await shell.say("No token works at the moment.");
    await shell.result(answer, ({ tokens }) =>
      tokens.length === 0 ? "" : table(
        ["ID", "KIND", "OWNER", "TOKEN", "NAME", "EXPIRES", "LAST USED"],
        tokens.map((token) => [
          token.id,
          token.kind,
          token.discord_id,
          token.display,
          token.name,
          shortTime(token.expires_at),
          shortTime(token.last_used_at) ?? "never",
        ]),
      ));
  });
}

/** `orgpods token issue`: prints the token and nothing else; it is never shown again. */
export async function issueToken(shell: Shell, flags: TokenFlags): Promise<void> {
  refuseRemote(shell, "token issue");
  const json = {
    kind: flags.kind,
    discord_id: flags.discordId,
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.days === undefined ? {} : { days: flags.days }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.tokens.$post({ param: { org }, json }));
    const { id, kind, discord_id, expires_at, revoked } = answer.value;
    await shell.say(
      `Token ${id} (${kind}) of ${discord_id} for ${org}, until ${shortTime(expires_at)}; not shown again.`,
    );
    if (revoked > 0) await shell.say(`${revoked} earlier token(s) of this kind and owner were revoked.`);
    await shell.result(answer, ({ token }) => token);
  });
}

export async function revokeToken(shell: Shell, id: string): Promise<void> {
  const token = pathPart(id, "The token's id");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.tokens[":token"].$delete({ param: { org, token } }));
    await shell.result(answer, ({ revoked }) => String(revoked));
  });
}
