/** What the tests of access that ends share: requests about people, and the parts that carry removals out, to be cut off. */
import assert from "node:assert/strict";
import type { RemovalRow } from "../../db/stores/removals.ts";
import { HOUR, SECOND } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import { createRemovals, type Removals } from "../../server/removal/carry_out.ts";
import { takeAccess, type Which } from "../../server/removal/take.ts";
import type { ExecOptions, ExecResult, PodTarget, SshPool } from "../../server/ssh/pool.ts";
import { createPodSetup } from "../../server/setup/setup.ts";
import { eventually } from "../demo/pods_support.ts";
import { type ClockedWorld, ORG, orgNamed, partsOf } from "../pods/support.ts";
import type { Scene, Ssh } from "../presence/scene.ts";
import { trustingPool } from "../support/ssh_pool.ts";
import { type Answer, PEOPLE, type Person, type World } from "../support/world.ts";

/** How an officer sees a removal. */
export interface RemovalSeen {
  readonly id: number;
  readonly discord_id: string;
  readonly state: "open" | "done";
  readonly report: string;
  readonly left: string | null;
  readonly todo: string | null;
}

export const put = (scene: Scene, body: Record<string, unknown>): Promise<Answer> =>
  scene.world.call("PUT", `${ORG}/pods/${scene.podId}`, { as: "officer", body });

/** Lists people on the pod, which is private then. */
export async function list(scene: Scene, ...people: Person[]): Promise<void> {
  const answer = await put(scene, { is_public: false, allowed_users: people.map((one) => PEOPLE[one]) });
  assert.equal(answer.status, 200, answer.text);
}

/** Takes somebody off the pod's list; what the answer says about it. */
export async function takeOff(scene: Scene, person: Person): Promise<RemovalSeen> {
  const answer = await put(scene, { remove_users: [PEOPLE[person]] });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.removals.length, 1, answer.text);
  return answer.json.removals[0];
}

/** As the officer who disconnects them, without a block. */
export async function disconnect(scene: Scene, person: Person, as: Person = "officer"): Promise<RemovalSeen> {
  const path = `${ORG}/pods/${scene.podId}/members/${PEOPLE[person]}/disconnect`;
  const answer = await scene.world.call("POST", path, { as, body: {} });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.removal;
}

export async function removals(world: World): Promise<(RemovalSeen & { readonly only_root: boolean })[]> {
  const answer = await world.call("GET", `${ORG}/removals`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.removals;
}

// deno-lint-ignore no-explicit-any
export async function connected(scene: Scene): Promise<any> {
  const answer = await scene.world.call("GET", `${ORG}/pods/${scene.podId}/members/connected`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Lets time pass, but however long a test waits, not so much that new certificates are not valid yet by sshd's clock. */
export function tick({ world }: Pick<Scene, "world">, ms: number): void {
  if (world.clock.now() - Date.now() < 200 * SECOND) world.clock.advance(ms);
}

/** RunPod is asked anew, as the loop does it. */
export async function refresh({ world }: Scene): Promise<void> {
  tick({ world }, 1_500);
  await world.call("GET", `${ORG}/pods`, { as: "officer" });
}

/** A turn of the removals, to its end. */
export async function removalTurn({ app }: World): Promise<void> {
  await app.jobs.access.removals.turn();
}

/** The last removal, once turns have brought it to its end; the time between them passes. */
export async function settled(scene: Scene, waitMs = 31_000): Promise<RemovalSeen> {
  for (let turn = 0; turn < 5; turn++) {
    const [last] = await removals(scene.world);
    if (last?.state === "done") return last;
    scene.world.clock.advance(waitMs);
    await scene.world.call("GET", `${ORG}/pods`, { as: "officer" });
    await removalTurn(scene.world);
  }
  throw new Error(`The removal does not end: ${JSON.stringify((await removals(scene.world))[0])}`);
}

/** Fails when the session of somebody who was let alone has ended, or does not answer. */
export async function livesOn(session: Ssh): Promise<void> {
  const word = `lives-${crypto.randomUUID().slice(0, 8)}`;
  try {
    await session.type(`echo ${word.slice(0, 5)}""${word.slice(5)}\n`);
    await eventually("a session that nobody meant goes on", () => Promise.resolve(session.printed().includes(word)));
  } catch (error) {
    throw new Error(`It has ended, or does not answer: ${session.printed().slice(-300)}`, { cause: error });
  }
}

/** Processes of a member's account, as `ps` shows their arguments. */
export async function processesOf(scene: Scene, folder: string): Promise<string[]> {
  const { out } = await scene.root(`ps -o args= -u godfather_${folder} 2>/dev/null`);
  return out.split("\n").filter((line) => line !== "");
}

/**
 * Sets the pod's clock so many hours ahead of the server's. It has none of its own here: a `date` that answers for one
 * stands in its place.
 */
export async function shiftClock(scene: Scene, hours: number): Promise<void> {
  // The scene's clock is moved ahead of the machine's.
  const seconds = Math.round((scene.world.clock.now() + hours * HOUR - Date.now()) / SECOND);
  await scene.root(
    `printf '%s\\n' '#!/bin/sh' '[ "$*" = +%s ] && exec echo $(($(/usr/bin/date +%s) + ${seconds}))' ` +
      `'exec /usr/bin/date "$@"' >/usr/local/bin/date && chmod 755 /usr/local/bin/date`,
  );
}

/** Where the connection to the pod breaks while a removal is carried out. */
export type Cut = "before the list" | "after the list" | "before the script" | "within the script" | "after the script";
export const CUTS: readonly Cut[] = [
  "before the list",
  "after the list",
  "before the script",
  "within the script",
  "after the script",
];

export interface CutScene {
  readonly removals: Removals;
  /** The connection breaks there once. */
  cutAt(cut: Cut): void;
  /** As the change that takes their access away does it. */
  take(person: Person, which?: Which): number;
  row(id: number): RemovalRow;
  turn(): Promise<void>;
}

/** A pod has one server: the connection of the scene's own would be taken for one whose record failed. */
const END_SECOND_SERVER = `own=" " at=$$
while [ "\${at:-0}" -gt 1 ]; do own="$own$at "; at=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$at/status"); done
for pid in $(pgrep -f '^sshd(-session)?: root'); do
  case $own in *" $pid "*) continue ;; esac
  [ -f "/run/godfather/connections/$pid" ] || kill "$pid"
done
`;

/** The parts of the program over the scene's database, with a pool of their own whose connection can break. */
export async function withCuts(scene: Scene, use: (cuts: CutScene) => Promise<void>): Promise<void> {
  const { world } = scene;
  const pool = trustingPool();
  let armed: Cut | null = null;
  const ssh: SshPool = {
    ...pool,
    exec: (target, command, options) => {
      const cut = armed;
      const isScript = typeof options.stdin === "string" && options.stdin.includes("account=godfather_");
      const is = (step: string, text: string) =>
        cut?.endsWith(step) === true && typeof options.stdin === "string" && options.stdin.includes(text);
      if (
        cut === null || !is("the list", "put /etc/ssh/godfather_revoked") && !is("the script", "account=godfather_")
      ) {
        return isScript
          ? pool.exec(target, "exec /bin/sh -s", { ...options, stdin: END_SECOND_SERVER })
            .then(() => pool.exec(target, command, options))
          : pool.exec(target, command, options);
      }
      armed = null;
      return broken(pool, cut, target, command, options);
    },
  };
  const parts = { ...partsOf(world as unknown as ClockedWorld), ssh };
  const setup = createPodSetup(parts);
  const removals = createRemovals({ ...parts, setup });
  try {
    await use({
      removals,
      cutAt: (cut) => void (armed = cut),
      take: (person, which = "all") =>
        takeAccess(
          world.db,
          { pod: scene.row(), discordId: PEOPLE[person], which, reason: "A test", by: null },
          world.clock.now(),
        )!.id,
      row: (id) => world.db.get<RemovalRow>("select * from access_removals where id = ?", id)!,
      turn: () => removals.turn(orgNamed(world)),
    });
  } finally {
    await pool.close();
    await setup.close();
    await removals.close();
  }
}

async function broken(
  pool: SshPool,
  cut: Cut,
  target: PodTarget,
  command: string,
  options: ExecOptions,
): Promise<ExecResult> {
  const lost = () => new AppError("pod_command_failed", "The connection to the pod broke");
  if (cut.startsWith("before")) {
    pool.drop(target.podKey);
    throw lost();
  }
  if (cut.startsWith("after")) {
    await pool.exec(target, command, options);
    pool.drop(target.podKey);
    throw lost();
  }
  // It has begun and ended nothing yet; nobody lets it go on.
  const mark = "/run/removal-within";
  const held = String(options.stdin).replace(
    "\nclean=0 ",
    `\n: >${mark}; for wait in $(seq 200); do [ -e ${mark} ] || break; sleep 0.05; done; exit\nclean=0 `,
  );
  assert.notEqual(held, options.stdin);
  const begun = Promise.allSettled([pool.exec(target, command, { ...options, stdin: held })]);
  await eventually("the script has begun", async () => (await pool.exec(target, `ls ${mark}`, options)).exitCode === 0);
  pool.drop(target.podKey);
  const [result] = await begun;
  assert.equal(result?.status, "rejected");
  throw (result as PromiseRejectedResult).reason;
}
