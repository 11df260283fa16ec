import { systemClock } from "../clock.ts";
import { createLog, type Log } from "../log.ts";
import { stopSignal, surviveUnhandledRejections } from "../serve.ts";
import { type Demo, startDemo } from "./start.ts";

/** The demo ends by itself after this, so that a forgotten one does not stay open. */
const LONGEST_MS = 8 * 60 * 60 * 1000;

/**
 * `orgpods demo`: the whole system with stand-ins for RunPod and Discord, no account needed. Prints what to type next, or
 * with `json` one line of JSON, and goes on until SIGINT or SIGTERM. With `fast` a session of two minutes plays in front of the
 * reader. Returns the exit code.
 */
export async function demo(
  options: {
    readonly port: number;
    readonly json: boolean;
    readonly fast?: boolean;
    /** Settings of the server beside the demo's own. */
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<number> {
  const log = warningsOnly();
  surviveUnhandledRejections(log);
  const ended = stopSignal();
  if (!options.json) console.error("Starting the demo …");
  const running = await startDemo({
    port: options.port,
    log,
    fast: options.fast ?? false,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  await Deno.stdout.write(
    new TextEncoder().encode(options.json ? JSON.stringify(running.facts) + "\n" : nextSteps(running)),
  );
  const shown = new AbortController();
  const show = options.json || running.show === undefined ? Promise.resolve() : play(running.show, shown.signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<void>((resolve) => timer = setTimeout(resolve, LONGEST_MS));
  await Promise.race([ended, tooLong]);
  clearTimeout(timer);
  shown.abort();
  await show;
  await running.close();
  return 0;
}

/** The session in front of the reader. */
async function play(show: NonNullable<Demo["show"]>, stopped: AbortSignal): Promise<void> {
  const encoder = new TextEncoder();
  const say = async (line: string) => void await Deno.stdout.write(encoder.encode(`  ${line}\n`));
  await say("");
  await say(
    "A session of two minutes on the pod evening-class. Its times are UTC; the schedule looks every 2 seconds.",
  );
  await show(say, stopped);
  if (!stopped.aborted) await say("The session is over. The demo goes on until Ctrl-C.");
}

function warningsOnly(): Log {
  const encoder = new TextEncoder();
  const log = createLog((line) => {
    Deno.stderr.writeSync(encoder.encode(line + "\n"));
  }, systemClock.now);
  return { ...log, info: () => {} };
}

function nextSteps({ facts, signInCode, pods }: Demo): string {
  const { url, org, member, officer, pod_id } = facts;
  return `orgpods demo is ready at ${url}
${pods} They share this computer's network. Everything is on loopback only, and ends with Ctrl-C.

List the pods as a member:
  curl -H 'Authorization: Bearer ${member.token}' ${url}/api/compute/${org}/me/pods

Get into the pod with the published client (pip install godfather-cli). Paste the member's token when it asks:
  godfather auth --api-url ${url} --org ${org}
  ${member.token}
  godfather connect ${pod_id} --api-url ${url} --org ${org}

Or by hand, with ssh alone (needs curl and python3):
  ssh-keygen -q -t ed25519 -N '' -f demo_key
  curl -s -H 'Authorization: Bearer ${member.token}' -H 'Content-Type: application/json' \\
    -d "{\\"public_key\\": \\"$(cat demo_key.pub)\\"}" ${url}/api/compute/${org}/me/pods/${pod_id}/connect > demo.json
  python3 -c 'import json; i = json.load(open("demo.json"))["ssh_info"]; open("demo_key-cert.pub", "w").write(i["certificate"] + "\\n"); print(i["port"])'
  ssh -i demo_key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -p PORT root@127.0.0.1

Officers have two tokens: one to manage pods, and, like every member, one to get into them (as root). The officer's own
for godfather, cli_token in the JSON line of --json:
  ${officer.cli_token}

Create a pod as an officer, with the one to manage pods:
  curl -H 'Authorization: Bearer ${officer.token}' -H 'Content-Type: application/json' \\
    -d '{"name": "second", "use_cpu_only": true, "is_public": true}' ${url}/api/compute/${org}/pods

Look at everything as the operator, with the orgpods command (here: deno run -A main.ts, or npx -y deno@2.9.6 run -A main.ts):
  orgpods --data-dir ${facts.data_dir} pod list

Run everything from a full screen, as the operator, or as an officer from elsewhere (paste the officer's token from above
when it asks):
  orgpods --data-dir ${facts.data_dir} admin
  orgpods --server ${url} --org ${org} admin

Sign in with the stand-in Discord in a browser (the code is ${signInCode}; a new token replaces the person's one above):
  ${url}/api/compute/${org}/cli/login
`;
}
