import assert from "node:assert/strict";
import { createRunningPod, createWorld, PEOPLE, testClock } from "../support/world.ts";

Deno.test("PUT /pods/<id> with add_users and remove_users changes the list as it is at that moment", async () => {
  const clock = testClock();
  const world = { ...await createWorld({ clock }), clock };
  try {
    const id = await createRunningPod(world, { is_public: false, allowed_users: [PEOPLE.member] });
    const put = (body: unknown) => world.call("PUT", `/api/compute/org/pods/${id}`, { as: "officer", body });
    const both = await Promise.all([put({ add_users: ["33333"] }), put({ add_users: ["22222"] })]);
    assert.deepEqual(both.map((answer) => answer.status), [200, 200]);
    const removed = await put({ remove_users: [PEOPLE.member], add_users: ["44444"] });
    assert.deepEqual(removed.json.pod.allowed_users, ["22222", "33333", "44444"]);

    const refused: [unknown, string][] = [
      [{ remove_users: ["99999"] }, "remove_users names somebody who is not on the pod's list: 99999"],
      [
        { add_users: ["55555"], allowed_users: [] },
        "allowed_users is the whole list: leave add_users and remove_users out",
      ],
      [{ add_users: ["22222"], remove_users: ["22222"] }, "add_users and remove_users must not name the same person"],
      [{ add_users: ["abc"] }, "add_users must hold Discord ids, of 5 to 25 digits each"],
      [
        { add_users: Array.from({ length: 498 }, (_, n) => String(100_000 + n)) },
        "The pod's list would hold more than 500 people",
      ],
    ];
    for (const [body, sentence] of refused) {
      const answer = await put(body);
      assert.equal(answer.status, 400, sentence);
      assert.deepEqual(answer.json, { error: sentence, code: "invalid_request" });
    }
    const after = await world.call("GET", `/api/compute/org/pods/${id}`, { as: "officer" });
    assert.deepEqual(after.json.pod.allowed_users, ["22222", "33333", "44444"]);
  } finally {
    await world.close();
  }
});
