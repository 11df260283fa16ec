import assert from "node:assert/strict";
import { eventPage } from "../../db/stores/events.ts";
import { type ClockedWorld, withWorld } from "../http/support.ts";
import { OFFICER_ROLE, type Person, RUNPOD_KEY } from "../support/world.ts";

type Event = { actor: string | null; details: Record<string, unknown> };

/** The events that `work` raises in the org, oldest first. */
async function raised(world: ClockedWorld, work: () => Promise<unknown>): Promise<Event[]> {
  const list = () =>
    eventPage(world.db, 1, { limit: 500, beforeId: null, kind: "settings.changed", runpodId: null }).reverse();
  const before = list().length;
  await work();
  return list().slice(before).map((event) => ({ actor: event.actor, details: JSON.parse(event.details) }));
}

const ROLE = "900000000000000031";
const CHANGES: [Person | "operator", string, string, unknown, string, Record<string, unknown>][] = [
  ["officer", "PUT", "/api/compute/org/settings", { pod_image: "x" }, "officer", { changed: ["pod_image"] }],
  [
    "officer",
    "PUT",
    "/api/compute/org/settings",
    { pod_image: "x", min_cuda_version: "12.4" },
    "officer",
    { changed: ["min_cuda_version"] },
  ],
  ["officer", "PUT", "/api/compute/org/module", { enabled: false }, "officer", { changed: ["enabled"] }],
  ["officer", "PUT", "/api/compute/org/module", { enabled: true }, "officer", { changed: ["enabled"] }],
  [
    "superadmin",
    "PUT",
    "/api/compute/org/roles",
    { officer_role_ids: [OFFICER_ROLE, ROLE], member_role_ids: [ROLE] },
    "a superadmin",
    { changed: ["officer_role_ids", "member_role_ids"] },
  ],
  [
    "operator",
    "PATCH",
    "/api/operator/orgs/org",
    { officer_role_ids: [OFFICER_ROLE], pod_image: null, force: true },
    "the server's operator",
    { changed: ["officer_role_ids", "pod_image"] },
  ],
  [
    "officer",
    "PUT",
    "/api/compute/org/integrations/runpod",
    { api_key: RUNPOD_KEY },
    "officer",
    { changed: ["runpod_api_key"], did: "set" },
  ],
  [
    "operator",
    "DELETE",
    "/api/operator/orgs/org/secrets/runpod_api_key",
    undefined,
    "the server's operator",
    { changed: ["runpod_api_key"], did: "removed" },
  ],
  [
    "operator",
    "PUT",
    "/api/operator/orgs/org/secrets/runpod_api_key",
    { value: RUNPOD_KEY },
    "the server's operator",
    { changed: ["runpod_api_key"], did: "set" },
  ],
];

Deno.test("each change of settings raises one event that names what changed and who did it, never a value", () =>
  withWorld(async (world) => {
    for (const [as, method, path, body, actor, details] of CHANGES) {
      const events = await raised(world, async () => {
        const answer = await world.call(method, path, { as, ...(body === undefined ? {} : { body }) });
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      });
      assert.deepEqual(events.map((event) => [event.actor, event.details]), [[actor, details]], `${method} ${path}`);
    }
    const stored = JSON.stringify(world.db.all("select * from events"));
    assert.ok(!stored.includes(RUNPOD_KEY) && !stored.includes(ROLE));
  }));

Deno.test("settings that stay as they are, are refused or cannot be stored raise nothing", () =>
  withWorld(async (world) => {
    await world.call("PUT", "/api/compute/org/settings", { as: "officer", body: { pod_image: "x" } });
    const calls: [string, unknown][] = [
      ["settings", { pod_image: "x" }],
      ["settings", { pod_image: "two words" }],
      ["module", { enabled: true }],
      ["integrations/runpod", { api_key: "rpa_unknown_0123456789" }],
    ];
    for (const [path, body] of calls) {
      const events = await raised(world, () => world.call("PUT", `/api/compute/org/${path}`, { as: "officer", body }));
      assert.deepEqual(events, [], path);
    }
    world.db.run("create trigger full before insert on audit_log begin select raise(abort, 'no audit'); end");
    const events = await raised(
      world,
      () => world.call("PUT", "/api/compute/org/settings", { as: "operator", body: { pod_image: "y" } }),
    );
    assert.deepEqual(events, []);
  }));
