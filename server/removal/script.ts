import { FOLDER_FORM } from "../identity/folders.ts";
import { RECORDS } from "../presence/script.ts";
import { WORK } from "../setup/look.ts";
import { PREAMBLE } from "../setup/remote_shell.ts";

/** Whose access ends on a pod. */
export interface Ending {
  /** Folder name; the account on the pod is `godfather_<folder>`. */
  readonly folder: string;
  readonly discordId: string;
  /** Serials of the certificates whose connections go on, decimal; those of all others of theirs end. */
  readonly spared: readonly string[];
  /** False: only those connections end, and what their account runs stays. */
  readonly wholeAccount: boolean;
  /**
   * Null, or how many seconds ago at least they were let in again: then of their account only what was there before ends,
   * and it stays as it is.
   */
  readonly letInAgo: number | null;
  /** The pod writes the certificate of each connection down from its first moment on. */
  readonly isRecorded: boolean;
}

/**
 * Ends everything of one person on a pod: each SSH connection that came with one of their certificates, with all that
 * runs below it, and each process of their account; looks again until three looks in a row find nothing. Their
 * account expires, so that no cron job runs and no key of theirs is let in, and their crontab and at jobs are removed.
 * Nobody else is touched: a connection is known by the certificate the pod wrote down for it, or by the login program's
 * `su` to their account right below it. Prints `account failed` where it could not be made to expire, then lines that
 * begin with `ended`, `left` and `unknown`, then `end`, unless the pod has so many processes that they cannot be listed.
 */
export function endScript({ folder, discordId, spared, wholeAccount, letInAgo, isRecorded }: Ending): string {
  const isOdd = !FOLDER_FORM.test(folder) || [discordId, ...spared].some((one) => !/^\d{1,25}$/.test(one)) ||
    letInAgo !== null && !Number.isFinite(letInAgo);
  if (isOdd) throw new TypeError("A folder, an id, a serial or a time cannot stand in a script");
  return `${PREAMBLE}
account=godfather_${folder}
key_id=discord:${discordId}:
spared=' ${spared.join(" ")} '
whole=${wholeAccount ? "yes" : ""}
again=${letInAgo === null ? "" : Math.ceil(Math.max(0, letInAgo))}
image=${isRecorded ? "yes" : ""}
${BODY}`;
}

/** Without one of these the script would find nobody, and say so. */
const TOOLS = ["id", "ps", "awk", "grep", "find", "xargs", "sort", "wc"];

/** A user id that no account gets: above those of useradd, below those lent for user namespaces. */
const NOBODYS = 65_521;

const BODY = `
for tool in ${TOOLS.join(" ")}; do
  command -v "$tool" >/dev/null 2>&1 || { echo "missing $tool"; exit 9; }
done
uid= lent=
# Asked at each look: a first login that was under way may have made the account.
find_account() {
  [ -n "$whole" ] && [ -z "$uid" ] || return 0
  uid=$(id -u "$account" 2>/dev/null) || uid=
  case $uid in '' | *[!0-9]*) uid= ;; esac
  [ -n "$uid" ] || return 0
  if [ "$uid" -lt 1000 ]; then uid=; return 0; fi
  lent=$(awk -F: -v name="$account" '$1 == name && $2 >= 65536 { print $2, $2 + $3 - 1; exit }' /etc/subuid 2>/dev/null)
}

# When a process started, in ticks since the boot; fails for one that has ended.
started() {
  line=
  # The name of a program may hold line ends; what is read here stands behind it.
  { while read -r one; do line=$one; done <"/proc/$1/stat"; } 2>/dev/null || return 1
  [ -n "$line" ] || return 1
  set -- \${line##*) }
  [ "$1" != Z ] && echo "\${20}"
}
ticks=$(getconf CLK_TCK 2>/dev/null || echo 100)
# What started later than this is theirs with a new certificate, and stays. Ages, because the pod's clock may be wrong.
before=
if [ -n "$again" ]; then before=$(($(started $$) - again * ticks)); fi
# Each connection that started later than this has a record; empty where that is true of none.
records=
if [ -n "$image" ]; then records=0
elif [ -f ${WORK}/confirmed ]; then
  age=$(($(date +%s) - $(stat -c %Y ${WORK}/confirmed)))
  records=$(($(started $$) - (age - 1) * ticks))
fi
is_old() {
  [ -n "$before" ] || return 0
  since=$(started "$1") && [ "$since" -lt "$before" ]
}
# True while the record of a connection is about the process that has its id now.
is_recorded() {
  { read -r since serial rest <"${RECORDS}/$1"; } 2>/dev/null && [ "$(started "$1")" = "$since" ]
}
# Prints the connections after their login whose certificate is not known: "theirs PID" for those of the account.
unrecorded() {
  COLUMNS=300 ps -e -o pid=,ppid=,ruid=,args= | awk -v wanted="$account" -v self=$$ '
    { args = $0; sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +/, "", args) }
    # While somebody says who they are, a process that may do nothing speaks with them.
    args ~ /^sshd[-a-z]*: .*\\[net\\]/ { before_login[$2] = 1 }
    $3 != 0 { next }
    { parent[$1] = $2 }
    args ~ /^sshd[-a-z]*: / { daemon[$1] = 1 }
    args ~ /^sshd(-session)?: [^ ]+( \\[priv\\])?$/ && args !~ /: \\[/ { connection[$1] = 1 }
    args ~ /\\/godfather-login / { daemon[$1] = 1 }
    args ~ /^su - / { split(args, words, " "); if (words[3] == wanted) session[$1] = 1 }
    END {
      for (pid = self; pid in parent && own_steps++ < 100; pid = parent[pid]) own[pid] = 1
      # Below the login program alone: an officer can become any account from a shell of their own.
      for (pid in session) {
        at = parent[pid]
        while (at in daemon && !(at in connection) && steps[pid]++ < 100) at = parent[at]
        if (at in connection) theirs[at] = 1
      }
      for (pid in connection) if (!(pid in own) && !(pid in before_login)) print (pid in theirs) ? "theirs" : "other", pid
    }' | while read -r whose pid; do
    is_recorded "$pid" || echo "$whose $pid"
  done
}
# Of those, "old:PID" for what came before connections were written down, and "new:PID" for what came since.
others() {
  unrecorded | while read -r whose pid; do
    [ "$whose" = other ] && since=$(started "$pid") || continue
    if [ -n "$records" ] && [ "$since" -gt "$records" ]; then echo "new:$pid"; else echo "old:$pid"; fi
  done
}
connections() {
  for record in ${RECORDS}/*; do
    [ -f "$record" ] || continue
    { read -r since serial id <"$record"; } 2>/dev/null || continue
    case $id in "$key_id"*) ;; *) continue ;; esac
    case $spared in *" $serial "*) continue ;; esac
    if [ "$(started "\${record##*/}")" = "$since" ]; then echo "\${record##*/}"; fi
  done
  [ -n "$whole" ] || return 0
  unrecorded | while read -r whose pid; do
    if [ "$whose" = theirs ] && is_old "$pid"; then echo "$pid"; fi
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
    $3 == 0 && $4 > age && args ~ /^sshd(-session)?: [^ ]+$/ && args !~ /: \\[/ { found[$1] = 1 }
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
# Their logins under way: root's until they become the account, and they go on when their connection is gone, for as long as
# they wait for other logins.
logins() {
  [ -n "$whole" ] || return 0
  COLUMNS=300 ps -e -o pid=,ruid=,args= | awk -v login="/usr/local/bin/godfather-login \${account#godfather_}" '
    $2 == 0 {
      args = $0
      sub(/^ *[0-9]+ +[0-9]+ +/, "", args)
      sub(/^(\\/[a-z\\/]*\\/)?(ba|da)?sh (-c )?/, "", args)
      if (args == login) print $1
    }' | while read -r pid; do
    if is_old "$pid"; then echo "$pid"; fi
  done
}
# Those of the account, and of the ids it may have been given for user namespaces. "self" too when the list has this very
# process: one without it is no list. Never one command with all of them as its arguments: there may be too many.
processes() {
  logins
  [ -n "$uid" ] || { echo self; return 0; }
  (cd /proc && printf '%s/status\\n' [0-9]* | xargs grep -HE '^(State|Uid):' 2>/dev/null) |
    awk -v self=$$ -v uid="$uid" -v first="\${lent%% *}" -v last="\${lent##* }" '
    function theirs(id) { return id == uid || first != "" && id >= first + 0 && id <= last + 0 }
    { split($1, path, "/") }
    /:State:/ { dead = ($2 == "Z" || $2 == "X"); if (path[1] == self) print "self" }
    /:Uid:/ { if (!dead && (theirs($2) || theirs($3) || theirs($4))) print path[1] }' |
    while read -r pid; do
      if [ "$pid" = self ] || is_old "$pid"; then echo "$pid"; fi
    done
}
# As them, all at once: what forks meanwhile is killed with the rest. They may do to a process of their account whatever
# they like, stop it or kill it, so the one that kills is not theirs: only its effective user is, for as long as one call
# takes. Its real user is nobody's, else it would kill that one's too.
kill_all() {
  [ -n "$uid" ] && [ -z "$again" ] || return 0
  perl -e '$< = ${NOBODYS}; $> = $ARGV[0]; exit 1 if $< != ${NOBODYS} || $> != $ARGV[0]; kill "KILL", -1; exit 0' "$uid" \\
    2>/dev/null && return 0
  # Without it they may be quicker, and then this would be waited for for ever.
  setpriv --reuid "$uid" --clear-groups kill -KILL -1 2>/dev/null &
  sleep 0.1
  kill -KILL "$!" 2>/dev/null
  wait "$!" 2>/dev/null
}
# So many processes that a list of them takes its time.
is_crowded() {
  set -- /proc/[0-9]*
  [ "$#" -gt 2000 ]
}

# Under the lock of the login program: somebody else's first login must not find the accounts locked.
expire() {
  set -- usermod --expiredate 1 "$account"
  if [ -d /run/godfather ] && command -v flock >/dev/null 2>&1; then set -- flock -w 2 /run/godfather "$@"; fi
  "$@" >/dev/null 2>&1
}
# A login that was under way may open the account again or leave one more job, so this is done at each look.
lock_account() {
  [ -n "$uid" ] || return 0
  if [ -n "$again" ]; then
    find /var/spool/cron -type f -uid "$uid" ! -newerct "$again seconds ago" -delete 2>/dev/null
    return 0
  fi
  rm -f "/var/spool/cron/crontabs/$account" "/var/spool/cron/$account" 2>/dev/null
  find /var/spool/cron /var/spool/at -type f -uid "$uid" -delete 2>/dev/null
  [ "$(getent shadow "$account" | cut -d: -f8)" = 1 ] || expire
}

# Whole seconds since the boot. What is found again and again must leave time to tell of it before the server gives up.
note_time() {
  read -r now rest </proc/uptime
  now=\${now%.*}
}
note_time
until=$((now + 6))
clean=0 round=0 connections=0 processes=0 seen=' ' locked=yes
while [ "$clean" -lt 3 ] && [ "$round" -lt 40 ] && [ "$now" -le "$until" ]; do
  note_time
  round=$((round + 1))
  found=
  find_account
  # Else who they are is read from what runs first.
  if is_crowded; then kill_all; fi
  if lock_account; then locked=yes; else locked=; fi
  for pid in $(connections | sort -u); do
    found=yes
    # Else it could begin one more session after the list of those below it was made.
    kill -STOP "$pid" 2>/dev/null
    kill -KILL "$pid" $(below "$pid") 2>/dev/null
    case $seen in *" $pid "*) ;; *) seen="$seen$pid " connections=$((connections + 1)) ;; esac
  done
  theirs=$(processes)
  case $theirs in
    *self*) theirs=$(echo "$theirs" | grep -vx self) ;;
    *) found=yes ;;
  esac
  kill_all
  if [ -n "$theirs" ]; then
    found=yes
    processes=$((processes + $(echo "$theirs" | wc -l)))
    kill -KILL $theirs 2>/dev/null
  fi
  if [ -z "$found" ]; then clean=$((clean + 1)); else clean=0; fi
  sleep 0.15
done
[ -n "$locked" ] || echo "account failed"
echo "ended $connections $processes"
theirs=$(processes)
echo "left $(connections | sort -u | grep -c .) $(echo "$theirs" | grep -c '^[0-9]')"
# One that is just ending has no record any more: only what two looks see counts.
first=" $(echo $(others)) "
sleep 0.2
second=$(others | while read -r one; do case $first in *" $one "*) echo "$one" ;; esac; done)
echo "unknown $(echo "$second" | grep -c '^old:') $(echo "$second" | grep -c '^new:')"
if echo "$theirs" | grep -qx self && ps -e -o pid= | grep -qx " *$$"; then echo end; fi
`;

/** What the script did on a pod. */
export interface Ended {
  readonly connections: number;
  readonly processes: number;
  readonly leftConnections: number;
  readonly leftProcesses: number;
  /** Connections of others from before the pod wrote certificates down, if it does: one of them may be theirs. */
  readonly unknownConnections: number;
  /** The same of those from since then: something is wrong with their records. */
  readonly unrecordedConnections: number;
  /** False when their account could not be made to expire. */
  readonly accountExpired: boolean;
}

/** Reads what the script printed; the end of a sentence when it did not run to its end. */
export function parseEnded(text: string): Ended | string {
  const cut = "the commands for it did not run to their end";
  const lines = text.trimEnd().split("\n");
  const missing = TOOLS.find((tool) => lines.includes(`missing ${tool}`));
  if (missing !== undefined) return `the program ${missing} is not on it`;
  if (lines.at(-1) !== "end") return cut;
  const pair = (name: string) => {
    const [, a, b] = lines.map((line) => new RegExp(`^${name} (\\d{1,9}) (\\d{1,9})$`).exec(line)).find(Boolean) ?? [];
    return a === undefined || b === undefined ? null : [Number(a), Number(b)] as const;
  };
  const ended = pair("ended");
  const left = pair("left");
  const unknown = pair("unknown");
  if (ended === null || left === null || unknown === null) return cut;
  return {
    connections: ended[0],
    processes: ended[1],
    leftConnections: left[0],
    leftProcesses: left[1],
    unknownConnections: unknown[0],
    unrecordedConnections: unknown[1],
    accountExpired: !lines.includes("account failed"),
  };
}
