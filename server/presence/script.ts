/** The longest the walk may take, and the most it may print. */
export const WALK_MS = 5_000;
export const WALK_BYTES = 200_000;
/** The exit code of a pod whose image has no login program. */
export const NO_LOGIN_PROGRAM = 3;

/**
 * Walks the processes of a pod, as root over the backend's connection, and prints one line each for
 *
 *     own <pid>                               a process of the connection that asks
 *     ssh <pid> <seconds> <title>             the process of one SSH connection after its login
 *     member <pid> <seconds> <tty> <account>  a member's `su`
 *     officer <pid> <seconds> <tty> <name>    an officer's shell
 *     end <count>                             at last: how many processes there were
 *
 * Only processes whose real user is root count, because anybody can call a process of their own what they like: a member
 * cannot hide or rename one of root's. A `su` or shell counts below an SSH connection only; what outlives its connection
 * is work, not presence. A connection before its login has `[accepted]` in its title, or `[priv]` and a child
 * with `[net]`.
 */
export const WALK = `[ -x /usr/local/bin/godfather-login ] || exit ${NO_LOGIN_PROGRAM}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
ps -ww -eo pid=,ppid=,ruid=,etimes=,tty=,args= | awk -v self="$$" '
function below_ssh(pid, steps) {
  for (steps = 0; steps < 100 && pid in parent; steps++) {
    if (pid in connection) return 1
    pid = parent[pid]
  }
  return 0
}
match($0, /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[^ ]+ +/) {
  count++
  args = substr($0, RLENGTH + 1, 160)
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
    steps++
  }
  for (pid in connection) {
    if (connection[pid] ~ /\\[priv\\]$/ && pid in before_login) continue
    print "ssh", pid, seconds[pid], substr(connection[pid], index(connection[pid], " ") + 1)
  }
  for (pid in member) if (below_ssh(pid)) print "member", pid, seconds[pid], tty[pid], member[pid]
  for (pid in officer) if (below_ssh(pid)) print "officer", pid, seconds[pid], tty[pid]
  print "end", count + 0
}' | while read -r kind pid rest; do
  if [ "$kind" = officer ]; then
    rest="$rest $(tr '\\0' '\\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^GODFATHER_USER=//p' | head -n 1 | cut -c1-60)"
  fi
  printf '%s %s %s\\n' "$kind" "$pid" "$rest"
done
`;
