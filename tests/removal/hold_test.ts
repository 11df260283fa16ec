import assert from "node:assert/strict";
import { AppError } from "../../server/errors.ts";
import { holdConnections } from "../../server/removal/hold.ts";
import { DAY } from "../../server/clock.ts";
import { orgNamed, partsOf } from "../pods/support.ts";
import { PEOPLE } from "../support/world.ts";
import { inWard } from "./support.ts";

Deno.test("holdConnections goes to the pods that somebody may be on, and is not disturbed by one that refuses", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { world, pod } = ward;
    const parts = partsOf(world);
    const asked: string[] = [];
    const ssh: typeof parts.ssh = {
      ...parts.ssh,
      exec: (target) => {
        asked.push(target.podKey);
        return Promise.reject(new AppError("pod_unreachable", "Could not connect to the pod"));
      },
    };
    const hold = async () => {
      asked.length = 0;
      await holdConnections({ ...parts, ssh }, orgNamed(world));
      return [...asked];
    };
    assert.deepEqual(await hold(), [], "nobody has a certificate");
    await ward.connect("member");
    assert.deepEqual(await hold(), [pod().id]);
    world.clock.advance(2 * DAY);
    assert.deepEqual(await hold(), [pod().id], "a connection outlives its certificate");
    for (const change of ["host = null", "status = 'EXITED'", "state = 'terminated'"]) {
      world.db.run("savepoint before");
      world.db.run(`update compute_pods set ${change}`);
      assert.deepEqual(await hold(), [], change);
      world.db.run("rollback to before");
    }
    world.db.run("release before");
    const mistake = { ...ssh, exec: () => Promise.reject(new TypeError("a mistake")) };
    await assert.rejects(holdConnections({ ...parts, ssh: mistake }, orgNamed(world)), TypeError);
    await parts.ssh.close();
  }));
