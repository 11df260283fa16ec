import { homedir } from "node:os";
import { AppError, shown } from "../../server/errors.ts";

/** Where a member's ssh keeps things, and where ours are. */
export interface Places {
  readonly home: string;
  /** `~/.ssh` */
  readonly ssh: string;
  /** `~/.ssh/config`, the user's own file. */
  readonly userConfig: string;
  /** `~/.ssh/orgpods`; everything of ours is below it. */
  readonly root: string;
}

/** The files of one org. */
export interface OrgPlaces {
  readonly folder: string;
  readonly config: string;
  readonly settings: string;
  /** The key pair made here, unless the member has one of their own. */
  readonly key: string;
  /** A token that was given in the environment. */
  readonly token: string;
}

/** The files of one pod. */
export interface PodPlaces {
  readonly certificate: string;
  readonly knownHosts: string;
  /** What the server said last. */
  readonly state: string;
  readonly lock: string;
}

/**
 * A path that stands in a configuration of ssh as it is, in double quotes and in a shell's single quotes: without
 * characters that ssh expands, takes for a pattern or for an end of quotes.
 */
// deno-lint-ignore no-control-regex
const PLAIN_PATH = /^\/[^"'`\\%$*?!{}[\]\u0000-\u001f\u007f-\u009f]*$/;

/** Throws `AppError("usage")` for a path that could change the meaning of a configuration. */
export function plainPath(path: string, what: string): string {
  if (PLAIN_PATH.test(path)) return path;
  throw new AppError("usage", `${what} has characters that cannot stand in an SSH configuration: ${shown(path)}`);
}

/** `home` is the home folder by the environment, where it says one. */
export function placesOf(home: string | undefined): Places {
  const path = plainPath((home || homedir()).replace(/(?<=.)\/+$/, ""), "The home folder");
  const ssh = `${path}/.ssh`;
  return { home: path, ssh, userConfig: `${ssh}/config`, root: `${ssh}/orgpods` };
}

/** Throws `AppError("usage")` for what is no prefix of an org: it becomes the name of a folder. */
export function orgPlaces({ root }: Places, org: string): OrgPlaces {
  if (!/^[a-z0-9_][a-z0-9_-]{1,19}$/.test(org)) {
    throw new AppError("usage", `The organization must be 2 to 20 of a-z, 0-9, _ and -: ${shown(org)}`);
  }
  const folder = `${root}/${org}`;
  return {
    folder,
    config: `${folder}/config`,
    settings: `${folder}/settings.json`,
    key: `${folder}/id_ed25519`,
    token: `${folder}/token`,
  };
}

/** `podId` must be one that `POD_ID` takes. */
export function podPlaces({ folder }: OrgPlaces, podId: string): PodPlaces {
  const stem = `${folder}/pod-${podId}`;
  return {
    certificate: `${stem}-cert.pub`,
    knownHosts: `${stem}.known_hosts`,
    state: `${stem}.json`,
    lock: `${stem}.lock`,
  };
}
