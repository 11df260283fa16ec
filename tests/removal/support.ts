/** What the tests of access that ends share where no sshd is needed: a pod that runs and people with certificates for it. */
import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import type { RemovalRow } from "../../db/stores/removals.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { type ClockedWorld, inWorld, ORG } from "../pods/support.ts";
import { createRunningPod, type Person, type World } from "../support/world.ts";

const KEY = publicLine(generateKeyPair().publicKey, "laptop");

export interface Certificate {
  readonly discord_id: string;
  readonly is_admin: number;
  readonly serial: string;
  readonly revoked_at: number | null;
}

export interface Ward {
  readonly world: ClockedWorld;
  /** RunPod's id. */
  readonly podId: string;
  pod(): LivePod;
  /** Gets each of them a certificate. */
  connect(...people: Person[]): Promise<void>;
  certificates(): Certificate[];
  /** The newest first. */
  rows(): RemovalRow[];
  /** Details of the events about access that ended, the oldest first. */
  events(): { readonly discord_id: string; readonly reason: string; readonly todo?: string }[];
  /** Details of the audit rows about access, the oldest first. */
  audit(): Record<string, unknown>[];
}

/** A world with one running pod, private and with these people on its list. Its address leads to nobody. */
export async function inWard(people: readonly string[], test: (ward: Ward) => Promise<void>): Promise<void> {
  await inWorld({}, async (world) => {
    const podId = await createRunningPod(world, { is_public: false, allowed_users: people });
    await test(wardOf(world, podId));
  });
}

export function wardOf(world: ClockedWorld, podId: string): Ward {
  const details = (sql: string) =>
    world.db.all<{ details: string }>(sql).map((row) => JSON.parse(row.details) as Record<string, unknown>);
  return {
    world,
    podId,
    pod: () => world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", podId)!,
    async connect(...people) {
      for (const as of people) {
        const answer = await world.call("POST", `${ORG}/me/pods/${podId}/connect`, { as, body: { public_key: KEY } });
        assert.equal(answer.status, 200, answer.text);
      }
    },
    certificates: () => world.db.all<Certificate>("select * from compute_connections order by id"),
    rows: () => world.db.all<RemovalRow>("select * from access_removals order by id desc"),
    events: () =>
      details("select details from events where kind = 'access.ended' order by id") as unknown as ReturnType<
        Ward["events"]
      >,
    audit: () =>
      details("select details from audit_log order by id").filter((one) =>
        ["access_ended", "blocked", "unblocked", "disconnected"].some((name) => name in one)
      ),
  };
}

/** The access check, to its end. */
export const check = ({ app }: World): Promise<void> => app.jobs.access.checks.turn();
