import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import { createPodSetup } from "../../server/setup/setup.ts";
import { inWorld, partsOf } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";

Deno.test("a set-up that failed while the server's clock was ahead is tried again once the clock is right", () =>
  inWorld({}, async (world) => {
    await createRunningPod(world);
    const parts = partsOf(world);
    let tries = 0;
    const setup = createPodSetup({
      ...parts,
      ssh: {
        ...parts.ssh,
        exec: () => {
          tries++;
          return Promise.reject(new AppError("pod_unreachable", "The pod does not answer"));
        },
      },
    });
    const ensure = () => setup.ensure(world.db.get<LivePod>("select * from compute_pods")!, MINUTE);
    world.clock.advance(10 * HOUR);
    await ensure();
    await ensure();
    assert.equal(tries, 1, "it waits");
    world.clock.advance(-10 * HOUR);
    await ensure();
    assert.equal(tries, 2);
    await setup.close();
    await parts.ssh.close();
  }));
