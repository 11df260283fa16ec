/** The longest the walk may take, and the most it may print. */
export const WALK_MS = 5_000;
export const WALK_BYTES = 200_000;
/** The exit code of a pod whose image has no login program. */
export const NO_LOGIN_PROGRAM = 3;
/** The exit code of a pod with more processes of root, and children of those, than are walked. */
export const TOO_MANY_PROCESSES = 4;
export const MOST_PROCESSES = 5_000;
/**
 * Where a pod of ours, or one that was set up, writes down which certificate each connection came with: a file per process
 * id of the connection, with the start time of that process, so that another one with the same id is not taken for it. Root
 * alone can write there.
 */
export const RECORDS = "/run/godfather/connections";
/** So many lines of each kind are printed: what they may fill together is less than `WALK_BYTES`. */
const MOST_LINES = 500;

/**
 * Walks the processes of root on a pod, as root over the backend's connection, and prints one line each for
 *
 *     own <pid>                               a process of the connection that asks
 *     ssh <pid> <seconds> <title>             the process of one SSH connection after its login
 *     cert <pid> <serial> <key id>            the certificate that connection came with, where the pod wrote it down
 *     member <pid> <seconds> <tty> <account>  a member's `su`
 *     officer <pid> <seconds> <tty> <name>    an officer's shell
 *     end <count>                             at last: how many processes there were
 *
 * Only processes whose real user is root count, because anybody can call a process of their own what they like: a member
 * cannot hide or rename one of root's. A `su` or shell counts below an SSH connection only; what outlives its connection
 * is work, not presence. A connection before its login has `[accepted]` in its title, or `[priv]` and a child
 * with `[net]`, which runs as another user.
 *
 * `ps` is asked about root's processes and their children only (those of PID 1, where orphans end up, left out), and cuts
 * their lines: how many processes members have, and with how long arguments, costs next to nothing.
 */
export const WALK = `[ -x /usr/local/bin/godfather-login ] || exit ${NO_LOGIN_PROGRAM}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
COLUMNS=400
export PATH LC_ALL COLUMNS
pids=$$
count=0
for folder in /proc/[0-9]*; do
  [ -O "$folder" ] || continue
  pid=\${folder#/proc/}
  children=
  [ "$pid" = 1 ] || { read -r children <"$folder/task/$pid/children"; } 2>/dev/null
  for one in $pid $children; do
    count=$((count + 1))
    pids=$pids,$one
  done
  [ "$count" -le ${MOST_PROCESSES} ] || exit ${TOO_MANY_PROCESSES}
done
ps -o pid=,ppid=,ruid=,etimes=,tty=,args= -p "$pids" | awk -v self="$$" '
function below_ssh(pid, steps) {
  for (steps = 0; steps < 100 && pid in parent; steps++) {
    if (pid in connection) return 1
    pid = parent[pid]
  }
  return 0
}
function ssh(pid) {
  print "ssh", pid, seconds[pid], substr(connection[pid], index(connection[pid], " ") + 1)
}
match($0, /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[^ ]+ +/) {
  count++
  args = substr($0, RLENGTH + 1, 120)
  parent[$1] = $2
  if (args ~ /^sshd[-a-z]*: .*\\[net\\]/) before_login[$2] = 1
  if ($3 != 0) next
  seconds[$1] = $4
  tty[$1] = $5
  if (args ~ /^sshd(-session)?: [^ ]+( \\[priv\\])?$/ && args !~ /: \\[/) connection[$1] = args
  else if (args ~ /^su - godfather_/) {
    split(args, words, " ")
    member[$1] = words[3]
  }
  else if (args ~ /^bash --rcfile \\/etc\\/godfather\\/admin\\.bashrc( |$)/) officer[$1] = 1
}
END {
  for (pid = self; pid in parent && steps < 100; pid = parent[pid]) {
    print "own", pid
    own[pid] = 1
    if (pid in connection) ssh(pid)
    steps++
  }
  for (pid in connection) {
    if (pid in own || connection[pid] ~ /\\[priv\\]$/ && pid in before_login) continue
    if (++lines["ssh"] <= ${MOST_LINES}) ssh(pid)
  }
  for (pid in member) {
    if (below_ssh(pid) && ++lines["member"] <= ${MOST_LINES}) print "member", pid, seconds[pid], tty[pid], member[pid]
  }
  for (pid in officer) {
    if (below_ssh(pid) && ++lines["officer"] <= ${MOST_LINES}) print "officer", pid, seconds[pid], tty[pid]
  }
  print "end", count + 0
}' | while read -r kind pid rest; do
  if [ "$kind" = officer ]; then
    rest="$rest $(tr '\\0' '\\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^GODFATHER_USER=//p' | head -n 1 | cut -c1-60)"
  fi
  printf '%s %s %s\\n' "$kind" "$pid" "$rest"
  [ "$kind" = ssh ] || continue
  { read -r since serial id <"${RECORDS}/$pid" && read -r line <"/proc/$pid/stat"; } 2>/dev/null || continue
  set -- \${line##*) }
  if [ "\${20}" = "$since" ]; then printf 'cert %s %s %s\\n' "$pid" "$serial" "$id"; fi
done
`;
