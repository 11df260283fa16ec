import assert from "node:assert/strict";
import { outcomeOf, type RemovalFacts, reportAfter } from "../../server/removal/outcome.ts";
import type { Ended } from "../../server/removal/script.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const UNTIL = Date.UTC(2026, 10, 30, 20);
const nothing: Ended = {
  connections: 0,
  processes: 0,
  leftConnections: 0,
  leftProcesses: 0,
  unknownConnections: 0,
  unrecordedConnections: 0,
  accountExpired: true,
};
const fine: RemovalFacts = {
  status: "RUNNING",
  listFailure: null,
  ended: nothing,
  worksUntil: UNTIL,
  which: "all",
};

/** What is done and what is left, for facts that differ from a removal that found nothing. */
const said = (facts: Partial<RemovalFacts>) => {
  const { isDone, report, error } = outcomeOf({ ...fine, ...facts }, NOW);
  return [isDone, report, error];
};

const REFUSED = "Their certificates are refused on the pod.";

Deno.test("outcomeOf is done when the list is there and nothing is left, and says what was ended", () => {
  assert.deepEqual(said({}), [true, `${REFUSED} Nothing of theirs was running.`, null]);
  const of = (ended: Partial<Ended>, facts: Partial<RemovalFacts> = {}) =>
    said({ ended: { ...nothing, ...ended }, ...facts })[1];
  assert.equal(of({ connections: 1 }), `${REFUSED} 1 SSH connection of theirs was ended.`);
  assert.equal(of({ processes: 1 }), `${REFUSED} 1 process of theirs was ended.`);
  assert.equal(
    of({ connections: 2, processes: 31 }),
    `${REFUSED} 2 SSH connections and 31 processes of theirs were ended.`,
  );
  assert.equal(
    of({ connections: 1 }, { which: "root" }),
    `${REFUSED} 1 SSH connection of theirs was ended. What they may do as a member stays.`,
  );
});

Deno.test("outcomeOf tells of connections from before the pod wrote them down, and is not done where a record failed", () => {
  const ended = { ...nothing, unknownConnections: 1 };
  const [isDone, report] = said({ ended });
  assert.equal(isDone, true);
  assert.match(String(report), /1 SSH connection is open whose certificate the pod did not write down, .* a restart/);
  const several = said({ ended: { ...nothing, unknownConnections: 2 } });
  assert.match(String(several[1]), /2 SSH connections are open/);
  assert.deepEqual(said({ ended: { ...nothing, unrecordedConnections: 1 } }), [
    false,
    `${REFUSED} Nothing of theirs was running.`,
    "1 SSH connection is open whose certificate is not written down although the pod does so, and may be theirs: a " +
    "restart of the pod ends it.",
  ]);
});

Deno.test("outcomeOf says until when a certificate works where the list is not, and not after that", () => {
  const listFailure = "its disk is full (/etc/ssh/godfather_revoked)";
  assert.deepEqual(said({ listFailure }), [
    false,
    "Nothing of theirs was running.",
    `The pod has not the revocation list: ${listFailure}. A certificate works there until 2026-11-30T20:00:00+00:00.`,
  ]);
  assert.deepEqual(said({ listFailure, worksUntil: NOW }), [true, "Nothing of theirs was running.", null]);
  assert.deepEqual(said({ listFailure, worksUntil: null }), [true, "Nothing of theirs was running.", null]);
});

Deno.test("outcomeOf says what could not be ended, and why", () => {
  assert.deepEqual(said({ ended: "could not connect to the pod" }), [
    false,
    REFUSED,
    "What they have running on the pod was not ended: could not connect to the pod.",
  ]);
  assert.equal(said({ ended: null })[2], "What they have running on the pod was not ended: it was not reached.");
  assert.equal(
    said({ ended: { ...nothing, connections: 1, leftConnections: 1, leftProcesses: 2 } })[2],
    "1 connection and 2 processes are left.",
  );
  assert.equal(
    said({ ended: { ...nothing, accountExpired: false } })[2],
    "Their account on the pod could not be locked against cron jobs and keys.",
  );
});

Deno.test("outcomeOf is done with a pod that is stopped or gone, and waits for one that RunPod only does not show", () => {
  const listFailure = null;
  const ended = null;
  assert.deepEqual(said({ status: "EXITED", listFailure, ended }), [
    true,
    "The pod is stopped, so nothing of theirs runs; the revocation list reaches it as soon as it starts.",
    null,
  ]);
  assert.deepEqual(said({ status: null, listFailure, ended }), [
    true,
    "The pod is gone, and everything on it with it.",
    null,
  ]);
  const [isDone, report, left] = said({ status: "GONE", listFailure, ended });
  assert.deepEqual([isDone, report], [false, "RunPod does not show the pod any more."]);
  assert.match(String(left), /Should it come back, what they have on it ends; terminate it .* Until 2026-11-30T20/);
  const [isDoneLater, , stillLeft] = said({ status: "GONE", listFailure, ended, worksUntil: NOW });
  assert.equal(isDoneLater, false, "their connection outlives the certificate");
  assert.match(String(stillLeft), /Should it come back, what they have on it ends; terminate it if it will not\.$/);
});

Deno.test("reportAfter keeps what an earlier look ended, and tells that the list has come since", () => {
  const outcome = (report: string, hasEnded: boolean) => ({
    isDone: true,
    hasEnded,
    hasEndedAll: true,
    report,
    error: null,
  });
  const ended = "1 SSH connection of theirs was ended.";
  const nothingMore = outcome(`${REFUSED} Nothing of theirs was running.`, false);
  assert.equal(reportAfter(null, nothingMore), nothingMore.report);
  assert.equal(reportAfter(ended, nothingMore), `${REFUSED} ${ended}`);
  assert.equal(reportAfter(`${REFUSED} ${ended}`, nothingMore), `${REFUSED} ${ended}`);
  assert.equal(reportAfter(ended, outcome("", false)), ended, "a try that reached nothing");
  assert.equal(reportAfter(null, outcome("", false)), null);
  const more = outcome("2 processes of theirs were ended.", true);
  assert.equal(reportAfter(ended, more), more.report);
});

Deno.test("outcomeOf says that all has ended where a look left nothing, whatever else is missing", () => {
  const all = (facts: Partial<RemovalFacts>) => outcomeOf({ ...fine, ...facts }, NOW).hasEndedAll;
  assert.equal(all({}), true);
  assert.equal(all({ listFailure: "its disk is full" }), true);
  for (const change of [{ leftProcesses: 1 }, { leftConnections: 1 }, { accountExpired: false }]) {
    assert.equal(all({ ended: { ...nothing, ...change } }), false, JSON.stringify(change));
  }
  assert.equal(all({ ended: "it was cut off" }), false);
  assert.equal(all({ status: "EXITED", ended: null }), false, "nobody looked");
});
