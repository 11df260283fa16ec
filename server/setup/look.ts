/** What a pod is like before anything is set up on it: asked by one script, which changes nothing. */
import { fromBase64Lossy } from "./text.ts";
import { PREAMBLE } from "./remote_shell.ts";

export const DROP_IN = "/etc/ssh/sshd_config.d/00-orgpods.conf";
/** What the set-up keeps on a pod while it works; not on the disk, so it is gone with the container. */
export const WORK = "/run/orgpods-setup";

/** Programs without which the set-up cannot be brought to a pod. */
const TOOLS = [
  "sshd",
  "ssh",
  "ssh-keygen",
  "bash",
  "base64",
  "sha256sum",
  "useradd",
  "su",
  "flock",
  "ps",
  "awk",
  "find",
  "stat",
  "getent",
  "setsid",
  "timeout",
];

/** What the running sshd's configuration must say, as `sshd -T` prints it. */
export const WANTED: Readonly<Record<string, string>> = {
  trustedusercakeys: "/etc/ssh/godfather_user_ca.pub",
  revokedkeys: "/etc/ssh/godfather_revoked",
  authorizedprincipalscommand: "/usr/lib/godfather/principals %u %s %i",
  authorizedprincipalsfile: "none",
  denyusers: "godfather_*",
  allowstreamlocalforwarding: "no",
  passwordauthentication: "no",
  kbdinteractiveauthentication: "no",
  permitrootlogin: "without-password",
};

export interface PodFacts {
  /** Of the sshd that this connection came through; null where there is none that can be told to read its files anew. */
  readonly listener: { readonly pid: number; readonly config: string | null } | null;
  /** The pod's clock, in ms since 1970. */
  readonly clock: number;
  /** What the image says about itself; null for an image that is not ours. */
  readonly marker: string | null;
  /** Settings of `sshd -T`, names in lower case. */
  readonly settings: ReadonlyMap<string, string>;
  /** Names of `TOOLS` that are missing. */
  readonly missing: readonly string[];
  /** What an earlier set-up of this start confirmed: the SHA-256 of its drop-in. */
  readonly confirmed: string | null;
  /** The SHA-256 of the drop-in that is there. */
  readonly dropIn: string | null;
}

/**
 * Prints one `name value` line each. It ends at once where it does not run as root or below no sshd: then it may not
 * be in a pod at all.
 */
export const LOOK = `${PREAMBLE}
[ "$(id -u)" = 0 ] || { echo "not root"; exit 0; }
pid=$$ listener=
while [ "$pid" -gt 0 ] 2>/dev/null; do
  case $(cat "/proc/$pid/comm" 2>/dev/null) in sshd | sshd-*) listener=$pid ;; esac
  pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)
  [ -n "$pid" ] || break
done
[ -n "$listener" ] || { echo "not sshd"; exit 0; }
title=$(tr '\\0' ' ' <"/proc/$listener/cmdline" | cut -c1-400)
config=
case $title in
  *"[listener]"*) echo "listener $listener"
    config=$(printf '%s' "$title" | sed -n 's/.* -f *\\([A-Za-z0-9._/-]*\\).*/\\1/p')
    if [ -n "$config" ]; then echo "config $config"; fi ;;
esac
if [ -f /etc/godfather/orgpods-image ]; then echo "marker $(head -c 200 /etc/godfather/orgpods-image | base64 | tr -d '\\n')"; fi
for tool in ${TOOLS.join(" ")}; do command -v "$tool" >/dev/null 2>&1 || echo "missing $tool"; done
if [ -f ${WORK}/confirmed ]; then echo "confirmed $(head -c 64 ${WORK}/confirmed)"; fi
if [ -f ${DROP_IN} ]; then echo "dropin $(sha256sum <${DROP_IN} | cut -c1-64)"; fi
sshd -T \${config:+-f "$config"} -C user=root,host=localhost,addr=127.0.0.1 2>/dev/null |
  grep -E '^(${Object.keys(WANTED).join("|")}) ' | head -n 50 | cut -c1-300 | sed 's/^/setting /'
echo "clock $(date +%s)"
echo end
`;

/** Reads what LOOK printed; a sentence without its full stop where the pod cannot be set up; null for a cut answer. */
export function parseLook(text: string): PodFacts | string | null {
  const lines = text.split("\n");
  if (lines.includes("not root")) return "The server's login on it is not root";
  if (lines.includes("not sshd")) return "The server's login does not come through an OpenSSH server";
  if (!lines.includes("end")) return null;
  const all = (name: string) => lines.flatMap((line) => line.startsWith(`${name} `) ? line.slice(name.length + 1) : []);
  const clock = /^\d{1,12}$/.exec(all("clock")[0] ?? "")?.[0];
  if (clock === undefined) return null;
  const pid = /^[1-9]\d{0,9}$/.exec(all("listener")[0] ?? "")?.[0];
  const settings = all("setting").map((line) => {
    const [, name = "", value = ""] = /^(\S+) (.*)$/.exec(line.trim()) ?? [];
    return [name.toLowerCase(), value.trim()] as const;
  });
  const digest = (name: string) => /^[0-9a-f]{64}$/.exec(all(name)[0] ?? "")?.[0] ?? null;
  const marker = all("marker")[0];
  return {
    listener: pid === undefined ? null : { pid: Number(pid), config: configIn(all("config")[0]) },
    clock: Number(clock) * 1000,
    marker: marker === undefined ? null : fromBase64Lossy(marker),
    settings: new Map(settings),
    missing: all("missing").filter((name) => TOOLS.includes(name)),
    confirmed: digest("confirmed"),
    dropIn: digest("dropin"),
  };
}

/** A path that may stand in a script; null for sshd's default file, and for a pod's answer that is none. */
function configIn(text: string | undefined): string | null {
  return text !== undefined && /^\/[A-Za-z0-9._/-]{1,200}$/.test(text) ? text : null;
}

/** The first setting that is not as wanted, as `name value`; null when all are. */
export function wrongSetting(settings: ReadonlyMap<string, string>): string | null {
  for (const [name, value] of Object.entries(WANTED)) {
    const found = settings.get(name);
    const same = found === value || name === "permitrootlogin" && found === "prohibit-password";
    if (!same) return `${name} ${found ?? "(not set)"}`;
  }
  return null;
}
