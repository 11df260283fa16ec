/** Removals whose first try was at a time the server's clock was ahead of. */
import assert from "node:assert/strict";
import { HOUR, SECOND } from "../../server/clock.ts";
import { takeAccess } from "../../server/removal/take.ts";
import { PEOPLE } from "../support/world.ts";
import { inWard } from "./support.ts";

Deno.test("a removal that was tried while the server's clock was ahead is tried again once the clock is right", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { db, clock, app } = ward.world;
    const turn = () => app.jobs.access.removals.turn();
    await ward.connect("member");
    clock.advance(10 * HOUR);
    const about = { pod: ward.pod(), discordId: PEOPLE.member, which: "all" as const, reason: "A test", by: null };
    takeAccess(db, about, clock.now());
    await turn();
    assert.equal(ward.rows()[0]!.tried_at, clock.now());
    clock.advance(-10 * HOUR);
    await turn();
    assert.equal(ward.rows()[0]!.tried_at, clock.now());
    clock.advance(29 * SECOND);
    await turn();
    assert.equal(ward.rows()[0]!.tried_at, clock.now() - 29 * SECOND, "from then on it waits as ever");
  }));
