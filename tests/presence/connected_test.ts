import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import { act, create, inWorld, ORG, refused } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";

const path = (id: string) => `${ORG}/pods/${id}/members/connected`;

Deno.test("connected answers 200 with the reason when who is on cannot be known, and 404 for an unknown pod", () =>
  inWorld({}, async (world) => {
    const connected = async (id: string) => {
      const answer = await world.call("GET", path(id), { as: "officer" });
      assert.equal(answer.status, 200, answer.text);
      const { reason, ...rest } = answer.json;
      assert.deepEqual(rest, {
        pod_id: id,
        clock_offset_seconds: null,
        state: "unknown",
        sessions: [],
        connections: null,
        certificates: [],
      });
      return reason;
    };
    const fresh: string = (await create(world)).json.pod.id;
    assert.equal(await connected(fresh), "The pod is not running");
    const id = await createRunningPod(world);
    // Nobody listens at the address the stand-in made up.
    assert.equal(await connected(id), "Could not connect to the pod");
    world.db.run("update compute_pods set host = null, port = null where runpod_id = ?", id);
    assert.equal(await connected(id), "The pod has no SSH address yet");
    world.clock.advance(MINUTE);
    assert.equal((await act(world, id, "stop")).status, 200);
    assert.equal(await connected(id), "The pod is not running");
    refused(await world.call("GET", path("nosuch"), { as: "officer" }), 404, "pod_not_found");
  }));
