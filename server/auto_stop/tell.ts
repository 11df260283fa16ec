import { Buffer } from "node:buffer";
import type { LivePod } from "../../db/stores/pods.ts";
import { isoTime, MINUTE } from "../clock.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import type { PlannedStop } from "./planned.ts";

/** The longest that telling may take, all terminals together. */
const TELL_MS = 8_000;
const TERMINAL = /^pts\/[0-9]{1,6}$/;

/**
 * Writes a text (first argument, base64) to terminals (the others; `all` for every one there is), each in the background
 * and for at most two seconds: a terminal that was stopped with Ctrl-S, or that nobody reads, would block the writer for
 * ever. A hundred at a time, because somebody may have opened thousands. Prints those that took it.
 */
const TELL = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
text=$1
shift
cd /dev || exit 1
[ "$1" != all ] || set -- pts/[0-9]*
count=0
for terminal in "$@"; do
  [ -c "/dev/$terminal" ] || continue
  count=$((count + 1))
  [ $((count % 100)) -ne 0 ] || wait
  (
    printf %s "$text" | base64 -d | timeout -s KILL 2 tee "/dev/$terminal" >/dev/null 2>&1 && echo "$terminal"
  ) &
done
wait
exit 0
`;

/**
 * Writes one line to terminals of a pod, or to every one it has; resolves with how many took it. Rejects as the connection
 * does.
 */
export async function tellTerminals(
  deps: PodDeps,
  pod: LivePod,
  terminals: readonly string[] | "all",
  line: string,
): Promise<number> {
  const known = terminals === "all" ? ["all"] : terminals.filter((one) => TERMINAL.test(one));
  if (known.length === 0) return 0;
  const text = Buffer.from(`\r\n\x07*** ${line} ***\r\n`).toString("base64");
  const result = await deps.ssh.exec(targetOf(deps, pod), `exec /bin/sh -s -- ${[text, ...known].join(" ")}`, {
    stdin: TELL,
    deadlineMs: TELL_MS,
    maxOutputBytes: 20_000,
  });
  const took = new Set(new TextDecoder().decode(result.stdout).split("\n").filter((one) => TERMINAL.test(one)));
  return terminals === "all" ? took.size : known.filter((one) => took.has(one)).length;
}

const BECAUSE: Readonly<Record<PlannedStop["rule"], string>> = {
  schedule: "because its session ends",
  max_run: "because it will have run for as long as one run may last",
  budget: "because the month's budget is spent",
  idle_stop: "unless it is used until then; being connected counts",
};

/** What the people on a pod read before a stop. It holds nothing that anybody else wrote. */
export function warningLine(stop: PlannedStop, now: number, keepsFiles: boolean): string {
  const files = keepsFiles ? "Save your work." : "All files on it are lost then: copy what you need.";
  const at = `${isoTime(stop.at).slice(11, 16)} UTC`;
  return `orgpods: this pod stops at ${at}, in ${timeLeft(stop.at - now)}, ${BECAUSE[stop.rule]}. ${files}`;
}

function timeLeft(ms: number): string {
  const inMinutes = ms >= MINUTE;
  const count = Math.max(1, Math.round(ms / (inMinutes ? MINUTE : 1_000)));
  return `${count} ${inMinutes ? "minute" : "second"}${count === 1 ? "" : "s"}`;
}
