import { RECORDS } from "../presence/script.ts";
import { WORK } from "../setup/look.ts";
import { PREAMBLE } from "../setup/remote_shell.ts";

/** Whose access ends on a pod. */
export interface Ending {
  /** Folder name; the account on the pod is `godfather_<folder>`. */
  readonly folder: string;
  /** Serials of every certificate they had for it, decimal. */
  readonly serials: readonly string[];
  /** False: only those connections end, and what their account runs stays. */
  readonly wholeAccount: boolean;
}

/**
 * Ends everything of one person on a pod: each SSH connection that came with one of their certificates, with all that
 * runs below it, and each process of their account; looks again until three looks in a row find nothing. Their
 * account expires, so that no cron job runs, and their crontab and at jobs are removed. Nobody else is touched:
 * a connection is known by the certificate the pod wrote down for it, or by the `su` of root that leads to their
 * account. Prints `ended`, `left` and `account` lines, then `end`.
 */
export function endScript({ folder, serials, wholeAccount }: Ending): string {
  if (!/^[a-z0-9_][a-z0-9._-]{0,21}$/.test(folder) || serials.some((serial) => !/^\d{1,20}$/.test(serial))) {
    throw new TypeError("A folder or a serial cannot stand in a script");
  }
  return `${PREAMBLE}
account=godfather_${folder}
serials=' ${serials.join(" ")} '
whole=${wholeAccount ? "yes" : ""}
${BODY}`;
}

const BODY = `
uid=
if [ -n "$whole" ]; then uid=$(id -u "$account" 2>/dev/null) || uid=; fi
case $uid in '' | *[!0-9]*) uid= ;; esac
if [ -n "$uid" ] && [ "$uid" -lt 1000 ]; then uid=; fi

lent=
if [ -n "$uid" ]; then
  lent=$(awk -F: -v name="$account" '$1 == name && $2 >= 65536 { print $2, $2 + $3 - 1; exit }' /etc/subuid 2>/dev/null)
fi

started() {
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- \${line##*) }
  [ "$1" != Z ] && echo "\${20}"
}
# Processes of root with the pids of their parents, and which of them are a connection after its login.
roots() {
  COLUMNS=300 ps -e -o pid=,ppid=,ruid=,args= | awk '$3 == 0'
}
connections() {
  for record in ${RECORDS}/*; do
    [ -f "$record" ] || continue
    { read -r since serial rest <"$record"; } 2>/dev/null || continue
    case $serials in *" $serial "*) ;; *) continue ;; esac
    if [ "$(started "\${record##*/}")" = "$since" ]; then echo "\${record##*/}"; fi
  done
  [ -n "$whole" ] || return 0
  # Where nothing was written down: below whose connection the account's session runs.
  roots | awk -v wanted="$account" '
    { parent[$1] = $2; args = $0; sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +/, "", args) }
    args ~ /^sshd(-session)?: [^ ]+( \\[priv\\])?$/ && args !~ /: \\[/ { connection[$1] = 1 }
    args ~ /^su - / { split(args, words, " "); if (words[3] == wanted) session[$1] = 1 }
    END {
      for (pid in session) for (at = parent[pid]; at in parent && steps[pid]++ < 100; at = parent[at])
        if (at in connection) { print at; break }
    }' | while read -r pid; do
    # A connection with a certificate of somebody else stays: an officer may have become this account.
    if [ -f "${RECORDS}/$pid" ]; then
      { read -r since serial rest <"${RECORDS}/$pid"; } 2>/dev/null
      [ "$(started "$pid")" != "$since" ] || continue
    fi
    echo "$pid"
  done
  strays
}
# Connections without a session from before the server set this pod up: nobody knows whose they are, and a session could
# still be opened on them.
strays() {
  [ -f ${WORK}/confirmed ] || return 0
  age=$(($(date +%s) - $(stat -c %Y ${WORK}/confirmed)))
  own=" $(at=$$; while [ "\${at:-0}" -gt 1 ]; do printf '%s ' "$at"
    at=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$at/status" 2>/dev/null); done)"
  COLUMNS=300 ps -e -o pid=,ppid=,ruid=,etimes=,args= | awk -v age="$age" -v own="$own" '
    { busy[$2] = 1; args = $0; sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +/, "", args) }
    $3 == 0 && $4 > age && args ~ /^sshd(-session)?: [^ ]+$/ && args !~ /: \[/ { found[$1] = 1 }
    END { for (pid in found) if (!(pid in busy) && !index(own, " " pid " ")) print pid }' | while read -r pid; do
    [ -f "${RECORDS}/$pid" ] || echo "$pid"
  done
}
below() {
  ps -e -o pid=,ppid= | awk -v top="$1" '
    { child[$2] = child[$2] " " $1 }
    END {
      list = top
      for (i = 0; i < 5000 && list != ""; i++) {
        count = split(list, pids, " ")
        list = ""
        for (n = 1; n <= count; n++) { print pids[n]; list = list child[pids[n]]; child[pids[n]] = "" }
      }
    }'
}
# Those of the account, and of the ids it may have been given for user namespaces.
processes() {
  [ -n "$uid" ] || return 0
  grep -HE '^(State|Uid):' /proc/[0-9]*/status 2>/dev/null | awk -v uid="$uid" -v first="\${lent%% *}" -v last="\${lent##* }" '
    function theirs(id) { return id == uid || first != "" && id >= first + 0 && id <= last + 0 }
    /:State:/ { dead = ($2 == "Z" || $2 == "X") }
    /:Uid:/ { if (!dead && (theirs($2) || theirs($3) || theirs($4))) { split($1, path, "/"); print path[3] } }'
}

if [ -n "$uid" ]; then
  if usermod --expiredate 1 "$account" >/dev/null 2>&1; then echo "account expired"; else echo "account failed"; fi
  rm -f "/var/spool/cron/crontabs/$account" "/var/spool/cron/$account" 2>/dev/null
  find /var/spool/cron/atjobs /var/spool/at -maxdepth 1 -type f -uid "$uid" -delete 2>/dev/null
fi

clean=0 round=0 connections=0 processes=0
while [ "$clean" -lt 3 ] && [ "$round" -lt 40 ]; do
  round=$((round + 1))
  found=
  for pid in $(connections | sort -u); do
    found=yes
    tree=$(below "$pid")
    kill -KILL $tree 2>/dev/null && connections=$((connections + 1))
  done
  theirs=$(processes)
  if [ -n "$theirs" ]; then
    found=yes
    processes=$((processes + $(echo "$theirs" | wc -l)))
    # As them, all at once: what forks meanwhile is killed with the rest.
    setpriv --reuid "$uid" --clear-groups kill -KILL -1 2>/dev/null
    kill -KILL $theirs 2>/dev/null
  fi
  if [ -z "$found" ]; then clean=$((clean + 1)); else clean=0; fi
  sleep 0.15
done
echo "ended $connections $processes"
echo "left $(connections | sort -u | grep -c .) $(processes | grep -c .)"
echo end
`;

/** What the script did on a pod. */
export interface Ended {
  readonly connections: number;
  readonly processes: number;
  readonly leftConnections: number;
  readonly leftProcesses: number;
  /** False when their account could not be made to expire. */
  readonly accountExpired: boolean;
}

/** Reads what the script printed; null when it did not run to its end. */
export function parseEnded(text: string): Ended | null {
  const lines = text.trimEnd().split("\n");
  if (lines.at(-1) !== "end") return null;
  const pair = (name: string) => {
    const [, a, b] = lines.map((line) => new RegExp(`^${name} (\\d{1,9}) (\\d{1,9})$`).exec(line)).find(Boolean) ?? [];
    return a === undefined || b === undefined ? null : [Number(a), Number(b)] as const;
  };
  const ended = pair("ended");
  const left = pair("left");
  if (ended === null || left === null) return null;
  return {
    connections: ended[0],
    processes: ended[1],
    leftConnections: left[0],
    leftProcesses: left[1],
    accountExpired: !lines.includes("account failed"),
  };
}
