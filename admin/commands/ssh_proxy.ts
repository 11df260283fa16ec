import { SECOND, systemClock } from "../../server/clock.ts";
import { AppError, shown } from "../../server/errors.ts";
import { createApi } from "../client/api.ts";
import { Refusal } from "../client/refusal.ts";
import { connectRemote } from "../client/remote.ts";
import { type AccessDeps, renewAccess } from "../member_ssh/access.ts";
import { bridge, dial } from "../member_ssh/bridge.ts";
import { hostKeyAlias } from "../member_ssh/config_text.ts";
import { publicKeyOf } from "../member_ssh/identity.ts";
import { memberToken } from "../member_ssh/member_token.ts";
import { orgPlaces, placesOf, podPlaces } from "../member_ssh/places.ts";
import { readSettings } from "../member_ssh/settings.ts";
import type { Shell } from "./shell.ts";

/** ssh starts this program twice for one login; the second does not ask the server again. */
const RECENT_MS = 10 * SECOND;
/** The server has 12 s for a connect. */
const ANSWER_MS = 20 * SECOND;

/**
 * `orgpods ssh-proxy`, which ssh runs: renews what is needed for a login and joins standard input and output with the pod's
 * SSH server. With `--renew` it only renews, and ends with 1 and without a word where that is not possible, because ssh
 * runs it the other way right afterwards.
 */
export async function sshProxy(
  shell: Shell,
  org: string,
  pod: string,
  flags: { readonly renew?: boolean },
): Promise<number> {
  if (flags.renew) return await renewQuietly(await accessDeps(shell, org, pod));
  const deps = await accessDeps(shell, org, pod);
  const access = await renewAccess(deps, { maxAgeMs: RECENT_MS });
  if (access.warning !== null) await shell.say(`warning: ${access.warning}`);
  await bridge(shell.stdio, await dialPresent(deps, access));
  return 0;
}

async function renewQuietly(deps: AccessDeps): Promise<number> {
  try {
    await renewAccess(deps, { maxAgeMs: RECENT_MS });
    return 0;
  } catch (error) {
    if (error instanceof AppError || error instanceof Refusal) return 1;
    throw error;
  }
}

/** An address that does not answer may be one that the pod has left a moment ago: a connect finds the present one. */
async function dialPresent(deps: AccessDeps, first: { readonly host: string; readonly port: number }) {
  try {
    return await dial(first.host, first.port);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const now = await renewAccess(deps, { maxAgeMs: 0, renew: true });
    if (now.host === first.host && now.port === first.port) throw error;
    return await dial(now.host, now.port);
  }
}

async function accessDeps(shell: Shell, org: string, pod: string): Promise<AccessDeps> {
  const places = placesOf(shell.env("HOME"));
  const own = orgPlaces(places, org);
  const settings = await readSettings(own);
  const id = Object.entries(settings?.aliases ?? {}).find(([id, alias]) => id === pod || alias === pod)?.[0];
  if (settings === null || id === undefined) {
    throw new AppError("usage", `ssh is not set up for the pod ${shown(pod)} of ${org}`, {
      hint: `Run: orgpods --org ${org} ssh-config`,
    });
  }
  const { server } = settings;
  return {
    clock: systemClock,
    org,
    podId: id,
    places: podPlaces(own, id),
    publicKey: await publicKeyOf(settings.identity),
    hostKeyAlias: hostKeyAlias(org, id),
    openApi: async () => {
      const token = await memberToken(settings.token, { home: places.home, server, org });
      return createApi(connectRemote({ url: server, token, answerMs: ANSWER_MS }));
    },
  };
}
