import assert from "node:assert/strict";
import { PUBLIC_WARNING } from "../../server/pods/create.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { type FakeAdmin, type FakeAdminOptions, withAdmin } from "../support/fake_admin.ts";
import { createRunningPod, GUILD, OFFICER_ROLE, PEOPLE, type Person } from "../support/world.ts";
import { podsNow, refusal, type TestWorld, withPods, withWorld } from "./support.ts";

const LISTED = { name: "lab", is_public: false, allowed_users: [PEOPLE.member] };
const ROLE = "900000000000000030";

/** A pod with its access open. At the end it is waited for what the server still asks Discord. */
async function withAccess(
  pod: Record<string, unknown>,
  options: FakeAdminOptions,
  use: (admin: FakeAdmin, world: TestWorld, id: string) => Promise<void>,
): Promise<void> {
  await withWorld(async (world) => {
    const id = await createRunningPod(world, pod);
    const asked: Promise<Response>[] = [];
    const intercept = (request: Request) => {
      const own = options.intercept?.(request) ?? null;
      if (own !== null) return own;
      const answer = world.app.fetch(request, { isOperator: true, account: "test", address: "192.0.2.9" });
      asked.push(answer);
      return answer;
    };
    await withAdmin(world, { ...options, intercept }, async (admin) => {
      await admin.until(/^> lab/m);
      await admin.press("enter");
      await admin.until("Pod id");
      await admin.press("a");
      await admin.until("DISCORD ID");
      await use(admin, world, id);
    });
    await Promise.allSettled(asked);
  });
}

async function certificateFor(world: TestWorld, id: string, as: Person): Promise<void> {
  const body = { public_key: publicLine(generateKeyPair().publicKey, "laptop") };
  const answer = await world.call("POST", `/api/compute/org/me/pods/${id}/connect`, { as, body });
  assert.equal(answer.status, 200, answer.text);
}

/** People with a role, and the role. */
function addRole(world: TestWorld, count: number, name = "Workshop"): string[] {
  const { world: discord } = world.discord;
  discord.addRole({ guild_id: GUILD, id: ROLE, name, position: 1 });
  // The server keeps the roles it knows for five minutes.
  world.clock.advance(301_000);
  return Array.from({ length: count }, (_, at) => {
    const id = String(300000000000000000n + BigInt(at));
    discord.addUser({ id, username: `person${at}`, global_name: `Person ${String(at).padStart(4, "0")}` });
    discord.addMember({ guild_id: GUILD, user_id: id });
    discord.setRoles(GUILD, id, [ROLE]);
    return id;
  });
}

const put = (world: TestWorld, id: string, body: unknown) =>
  world.call("PUT", `/api/compute/org/pods/${id}`, { as: "officer", body });

Deno.test("access shows names for ids, opens the pod to all after a question, and says the server's warning", async () => {
  await withAccess(LISTED, { columns: 100 }, async (admin, world) => {
    await admin.until("Officers and those listed may enter: 1 person is listed.");
    await admin.until(new RegExp(`> member +${PEOPLE.member}`));
    await admin.press("p");
    await admin.until("Every member of the organization may enter then");
    await admin.press("n");
    assert.equal((await podsNow(world))[0].is_public, false);
    await admin.press("p", "y");
    await admin.until("Open to ALL members; 1 person is listed");
    assert.match(admin.text().replaceAll(/\s+/g, " "), new RegExp(PUBLIC_WARNING));
    assert.equal((await podsNow(world))[0].is_public, true);
    await admin.press("p");
    await admin.until("From then on officers and the 1 listed may enter.");
    await admin.press("y");
    await admin.until("Only officers and those listed may enter now");
    assert.equal((await podsNow(world))[0].is_public, false);
  });
});

Deno.test("before a removal it is said who holds a certificate, and afterwards what the server says, with the name", async () => {
  await withAccess(LISTED, { columns: 110 }, async (admin, world, id) => {
    await admin.until(/> member/);
    world.clock.advance(1_000);
    await certificateFor(world, id, "member");
    await admin.press("d");
    await admin.until("which stops working: member (until Tue 1 Dec");
    await admin.until("Their connections to the pod end at once, with everything that runs in their");
    await admin.press("y");
    await admin.until(`! member: ${PEOPLE.member}: `);
    await admin.until("Only officers may enter.");
    assert.deepEqual((await podsNow(world))[0].allowed_users, []);
    await admin.press("w");
    await admin.until("What the server said");
  });
});

Deno.test("members are found by the start of a name and by role, the first 100 are browsed, and all of a role are added", async () => {
  await withAccess(LISTED, { columns: 100, rows: 30 }, async (admin, world) => {
    const ids = addRole(world, 150);
    await admin.press("a");
    await admin.until("everybody: the first 100 of 15");
    await admin.press("/");
    await admin.type("exo");
    await admin.until("everybody: 1 found");
    await admin.press("enter", "enter");
    await admin.until("exOfficer is added");
    await admin.until(/listed +exOfficer/);
    assert(!admin.offered().includes("enter add"), "who is listed is not added twice");
    await admin.press("esc");
    await admin.until("the first 100");
    await admin.press("r");
    await admin.until("Officers");
    await admin.type("work");
    await admin.press("enter");
    await admin.until("role Workshop: the first 100 of 150");
    await admin.press("A");
    await admin.until("150 people have it now.");
    await admin.until("The people are added, not the role");
    await admin.press("y");
    await admin.until("150 people are added");
    const { allowed_users } = (await podsNow(world))[0];
    assert.deepEqual(allowed_users, [PEOPLE.member, PEOPLE.exOfficer, ...ids]);
    await admin.press("A");
    await admin.until("150 people have it now.");
    await admin.press("y");
    await admin.until("All of them are listed already");
    await admin.press("esc");
    await admin.until("152 people are listed");
    await admin.until("Person 0003");
    await admin.press("G");
    await admin.until("Person 0149");
    await admin.press("/");
    await admin.type("0077");
    await admin.until(/> Person 0077 +300000000000000077/);
    await admin.press("enter", "d");
    await admin.until("Remove Person 0077");
    await admin.press("y");
    await admin.until("Person 0077 is removed");
    assert.equal((await podsNow(world))[0].allowed_users.length, 151);
  });
});

Deno.test("a role with more than 500 people says so, and what the list has no room for is refused in the server's words", async () => {
  await withAccess(LISTED, { columns: 100 }, async (admin, world) => {
    addRole(world, 520);
    await admin.press("a");
    await admin.until("of 52");
    await admin.press("r");
    await admin.type("work");
    await admin.until("Workshop");
    await admin.press("enter");
    await admin.until("role Workshop: the first 100 of 520");
    await admin.press("A");
    await admin.until("520 people have it, and a list takes 500: the first 500 by name are added.");
    await admin.press("y");
    await admin.until("The pod's list would hold more than 500 people");
    assert.deepEqual((await podsNow(world))[0].allowed_users, [PEOPLE.member]);
  });
});

Deno.test("ids are pasted, several at once and as mentions; what is no id stays in the form with the server's sentence", async () => {
  await withAccess(LISTED, { columns: 80 }, async (admin, world) => {
    await admin.press("i");
    await admin.until("Discord ids");
    await admin.press("ctrl-s");
    await admin.until("! People must hold Discord ids");
    await admin.paste("1234");
    await admin.until("! People must hold Discord ids");
    await admin.press("ctrl-u");
    await admin.paste(`<@!${PEOPLE.exOfficer}>\n12345, 1234567890123456789012345`);
    await admin.untilGone("must hold");
    await admin.press("ctrl-s");
    await admin.until("They are added");
    await admin.until("4 people are listed");
    await admin.until(/not known +12345/);
    assert.deepEqual(
      (await podsNow(world))[0].allowed_users,
      [
        "12345",
        "1234567890123456789012345",
        PEOPLE.member,
        PEOPLE.exOfficer,
      ].sort(),
    );
    await admin.press("C");
    await admin.until("All 4 are taken off the list.");
    await admin.press("y");
    await admin.until("The list is empty");
    await admin.until("Nobody is listed.");
    assert.deepEqual((await podsNow(world))[0].allowed_users, []);
    assert(!admin.offered().includes("C clear all"));
  });
});

Deno.test("when Discord cannot be asked the reason is shown, and ids can be pasted", async () => {
  const pod = { ...LISTED, allowed_users: [PEOPLE.member, "12345"] };
  await withPods([pod], {}, async (admin, world) => {
    world.discord.world.setIntent(false);
    await admin.until(/^> lab/m);
    await admin.press("enter", "a", "a");
    await admin.until(/! .*Members Intent|! .*intent/i);
    await admin.until("Ids can still be pasted: press i.");
    await admin.press("i");
    await admin.paste(PEOPLE.exOfficer);
    await admin.press("ctrl-s");
    await admin.until("They are added");
    assert.equal((await podsNow(world))[0].allowed_users.length, 3);
  });
});

Deno.test("two officers who change the same list do not undo each other, and the second learns what is gone", async () => {
  await withAccess(
    { ...LISTED, allowed_users: [PEOPLE.member, PEOPLE.exOfficer] },
    { columns: 100 },
    async (admin, world, id) => {
      await admin.until(/> member/);
      await admin.press("d");
      await admin.until("Remove member");
      await put(world, id, { remove_users: [PEOPLE.member], add_users: [PEOPLE.stranger] });
      await admin.press("y");
      await admin.until("remove_users names somebody who is not on the pod's list");
      await admin.until(PEOPLE.stranger);
      assert.deepEqual((await podsNow(world))[0].allowed_users, [PEOPLE.stranger, PEOPLE.exOfficer]);
    },
  );
});

Deno.test("access says when the pod was deleted meanwhile, offers nothing then, and refusals keep the list in sight", async () => {
  let answer: Response | null = null;
  const intercept = (request: Request) => request.method === "PUT" ? answer?.clone() ?? null : null;
  await withAccess(LISTED, { intercept, columns: 100 }, async (admin, world, id) => {
    await admin.until(/> member/);
    for (
      const [status, sentence, code] of [
        [403, "You are not an officer of this organization", "not_an_officer"],
        [409, "Something else is under way", "conflict"],
        [500, "Something failed here; the server's log says more", "internal_error"],
      ] as const
    ) {
      answer = refusal(status, sentence, code);
      await admin.press("d", "y");
      await admin.until(sentence);
      assert.match(admin.text(), /> member/);
    }
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("ctrl-r");
    await admin.until("This pod is not in the list any more");
    for (const key of ["a", "i", "d", "C", "p"]) {
      assert(!admin.offered().some((one) => one.startsWith(`${key} `)), `${key} is not offered`);
    }
    await admin.press("a", "C", "p");
    assert.match(admin.text(), /not in the list any more/);
  });
});

Deno.test("access works in 40x12 and with names of others that are wide, long or hostile", async () => {
  await withPods([LISTED], { columns: 40, rows: 12 }, async (admin, world) => {
    world.discord.world.addUser({
      id: "400000000000000001",
      username: "hostile",
      global_name: "日本語日本語日本語日本語",
    });
    world.discord.world.addMember({ guild_id: GUILD, user_id: "400000000000000001" });
    await admin.until(/^> lab/m);
    await admin.press("enter");
    await admin.until("Status");
    await admin.press(":");
    await admin.type("access");
    await admin.press("enter");
    await admin.until("person is listed");
    await admin.press("a", "/");
    await admin.type("hos");
    await admin.until("1 found");
    await admin.press("enter", "enter");
    await admin.until("日本");
    await admin.press("esc", "esc");
    await admin.until(/enter: 2\s+people are listed/);
    await admin.resize(200, 50);
    await admin.until(/日本語 +400000000000000001/);
    await admin.resize(40, 12);
    await admin.press("j", "d");
    await admin.until("-- Remove");
    await admin.press("y");
    await admin.until(/enter: 1\s+person is listed/);
    assert.deepEqual((await podsNow(world))[0].allowed_users, [PEOPLE.member]);
  });
});

Deno.test("officers only are told apart from a list, and a role of the server's own is not offered", async () => {
  await withAccess({ name: "lab", is_public: false, allowed_users: [PEOPLE.officer] }, {}, async (admin) => {
    await admin.until(/> officer/);
    await admin.press("C", "y");
    await admin.until("Only officers may enter.");
    await admin.press("a", "r");
    const text = await admin.until(OFFICER_ROLE);
    assert.doesNotMatch(text, /@everyone/);
  });
});
