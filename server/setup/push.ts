/**
 * Brings the rules of our image to a running pod of another image, in steps of which each leaves the pod open to the
 * server and to whoever has a valid certificate: the list is written before sshd is told of it, the settings are tried
 * before they are put in place, and a watch on the pod takes them back by itself unless both logins were proved.
 */
import { shown } from "../errors.ts";
import type { PodTarget, SshPool } from "../ssh/pool.ts";
import { deliverFiles, type Failure } from "./deliver.ts";
import { DROP_IN, parseLook, type PodFacts, WORK, wrongSetting } from "./look.ts";
import { failureIn, PREAMBLE, PUT, putCall, type RemoteFile } from "./remote_shell.ts";

/** So long the watch on the pod waits for the proof: longer than all steps after it may take. */
const TAKE_BACK_S = 100;
const STEP_MS = 10_000;

export const PUSH_STEPS = ["files", "try", "watch", "install", "reload", "log in", "certificate", "confirm"] as const;
export type PushStep = typeof PUSH_STEPS[number];

export interface PushParts {
  readonly ssh: SshPool;
  readonly target: PodTarget;
  readonly facts: PodFacts & { readonly listener: NonNullable<PodFacts["listener"]> };
  /** Lists and keys to trust, then the programs; in this order. */
  readonly files: readonly RemoteFile[];
  readonly dropIn: RemoteFile;
  /** Logs in on the pod with a certificate of the org's CA; why that failed. */
  readonly tryCertificate: () => Promise<Failure>;
  /** Called before each step; what it throws is as if the server had died there. */
  readonly before?: (step: PushStep) => void | Promise<void>;
  readonly takeBackAfterS?: number;
}

/**
 * Sets the pod up; why it could not be, after everything was taken back. Rejects where the connection broke: then the
 * watch on the pod takes the settings back.
 */
export async function pushSetup(parts: PushParts): Promise<Failure> {
  const { before = () => {} } = parts;
  for (const step of PUSH_STEPS) {
    await before(step);
    const failure = await perform(parts, step);
    if (failure === null) continue;
    if (PUSH_STEPS.indexOf(step) >= PUSH_STEPS.indexOf("watch")) await takeBack(parts);
    return failure;
  }
  return null;
}

function perform(parts: PushParts, step: PushStep): Promise<Failure> {
  switch (step) {
    case "files":
      return deliverFiles(parts.ssh, parts.target, parts.files);
    case "try":
      return run(parts, tryScript(parts));
    case "watch":
      return run(parts, watchScript(parts));
    case "install":
      return run(parts, installScript(parts));
    case "reload":
      return run(
        parts,
        `${reload(parts)}\nsleep 0.2\n[ -d /proc/$listener ] || { echo "failed sshd ended"; exit 9; }\n`,
      );
    case "log in":
      return proveLogin(parts);
    case "certificate":
      return parts.tryCertificate();
    case "confirm":
      return run(parts, confirmScript(parts));
  }
}

async function run({ ssh, target }: PushParts, script: string): Promise<Failure> {
  const result = await ssh.exec(target, "exec /bin/sh -s", {
    stdin: `${PREAMBLE}${script}\necho end\n`,
    deadlineMs: STEP_MS,
    maxOutputBytes: 64 * 1024,
  });
  const output = new TextDecoder().decode(result.stdout);
  if (result.exitCode === 0 && output.trimEnd().endsWith("end")) return null;
  const said = /^failed sshd (.*)$/m.exec(output)?.[1];
  if (said !== undefined) return `its SSH server refuses the settings: ${shown(said.trim())}`;
  return failureIn(output) ?? "the commands for it did not run to their end";
}

const sshdOf = (parts: PushParts) => {
  const { config } = parts.facts.listener;
  return { main: config ?? "/etc/ssh/sshd_config", flag: config === null ? "" : `-f '${config}'` };
};

/** Our settings in front of the pod's own, judged by the pod's sshd, before they are anywhere it reads. */
function tryScript(parts: PushParts): string {
  const candidate = { ...parts.dropIn, path: `${WORK}/candidate.conf` };
  return `mkdir -p -m 700 ${WORK}
${PUT}${putCall(candidate)}printf 'Include %s\\nInclude %s\\n' ${candidate.path} '${
    sshdOf(parts).main
  }' >${WORK}/check.conf
why=$(sshd -t -f ${WORK}/check.conf 2>&1) || { echo "failed sshd $why" | tr '\\n' ' '; exit 9; }`;
}

/** The pod itself takes the settings back when nobody says in time that they work. */
function watchScript(parts: PushParts): string {
  const { takeBackAfterS = TAKE_BACK_S } = parts;
  return `cat >${WORK}/take-back <<'END-OF-SCRIPT'
listener=${parts.facts.listener.pid}
if [ -f ${WORK}/before.conf ]; then mv -f ${WORK}/before.conf ${DROP_IN}; else rm -f ${DROP_IN}; fi
rm -f ${WORK}/watch ${WORK}/confirmed
case $(cat "/proc/$listener/comm" 2>/dev/null) in sshd | sshd-*) kill -HUP "$listener" ;; esac
END-OF-SCRIPT
[ -s ${WORK}/take-back ] || { echo "failed ${WORK}/take-back No space left on device"; exit 9; }
id=$$-$(date +%s)
printf %s "$id" >${WORK}/watch
setsid /bin/sh -c 'sleep '${takeBackAfterS}'; [ "$(cat ${WORK}/watch 2>/dev/null)" = "'$id'" ] && . ${WORK}/take-back' \\
  </dev/null >/dev/null 2>&1 &
[ "$(cat ${WORK}/watch)" = "$id" ] || { echo "failed ${WORK}/watch No space left on device"; exit 9; }`;
}

function installScript(parts: PushParts): string {
  const { flag } = sshdOf(parts);
  return `[ -d ${DROP_IN.slice(0, DROP_IN.lastIndexOf("/"))} ] || { echo "failed sshd it reads no drop-ins"; exit 9; }
rm -f ${WORK}/before.conf
# What lies there unproved, because an earlier set-up was cut off, is nothing to go back to.
if [ -f ${DROP_IN} ] && { [ "$(sha256sum <${DROP_IN} | cut -c1-64)" != ${parts.dropIn.sha256} ] ||
  [ "$(cat ${WORK}/confirmed 2>/dev/null)" = ${parts.dropIn.sha256} ]; }; then
  cp ${DROP_IN} ${WORK}/before.conf || { echo "failed ${WORK}/before.conf No space left on device"; exit 9; }
fi
${PUT}${putCall(parts.dropIn)}why=$(sshd -t ${flag} 2>&1) || { echo "failed sshd $why" | tr '\\n' ' '; exit 9; }`;
}

/** Only while the watch is still there: once it has taken the settings back nothing is proved. */
const confirmScript = (parts: PushParts) =>
  `mv ${WORK}/watch ${WORK}/watched || { echo "failed sshd it took the settings back before they were proved"; exit 9; }
[ "$(sha256sum <${DROP_IN} | cut -c1-64)" = ${parts.dropIn.sha256} ] ||
  { echo "failed sshd its settings were changed meanwhile"; exit 9; }
rm -f ${WORK}/watched
printf %s ${parts.dropIn.sha256} >${WORK}/confirmed || exit 9
`;

const reload = (parts: PushParts) =>
  `listener=${parts.facts.listener.pid}
case $(cat "/proc/$listener/comm" 2>/dev/null) in sshd | sshd-*) ;; *) echo "failed sshd is not the one it was"; exit 9 ;; esac
kill -HUP "$listener"`;

/** A login of its own, and what the daemon's files say now: a file that includes no drop-ins keeps other settings. */
async function proveLogin({ ssh, target, facts }: PushParts): Promise<Failure> {
  await ssh.handshake(target, { deadlineMs: STEP_MS });
  const { config } = facts.listener;
  const look = await ssh.exec(target, "exec /bin/sh -s", {
    stdin: `${PREAMBLE}sshd -T ${config === null ? "" : `-f '${config}'`} -C user=root,host=localhost,addr=127.0.0.1 |
  sed 's/^/setting /'
echo clock 0
echo end
`,
    deadlineMs: STEP_MS,
    maxOutputBytes: 64 * 1024,
  });
  const seen = parseLook(new TextDecoder().decode(look.stdout));
  const wrong = seen === null || typeof seen === "string" ? "they cannot be read" : wrongSetting(seen.settings);
  return wrong === null ? null : `its SSH server keeps another setting (${shown(wrong)})`;
}

async function takeBack(parts: PushParts): Promise<void> {
  await run(parts, `[ -f ${WORK}/watch ] || exit 0\n. ${WORK}/take-back`);
}
