import assert from "node:assert/strict";
import { GUILD, OFFICER_ROLE, PEOPLE, type World } from "../support/world.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { refusal, run, sentence, type TestWorld, withPods, withWorld } from "./support.ts";

const TUTORS = "900000000000000030";
const STUDENTS = "900000000000000031";

// deno-lint-ignore no-explicit-any
async function rolesNow(world: World): Promise<any> {
  return (await world.call("GET", "/api/compute/org/roles", { as: "officer" })).json;
}

/** Roles that came while the server knew the list: it asks again a while later. */
function addRoles({ discord, clock }: TestWorld): void {
  discord.world.addRole({ guild_id: GUILD, id: TUTORS, name: "Tutors\u202e", position: 3 });
  discord.world.addRole({ guild_id: GUILD, id: STUDENTS, name: "Students", position: 4 });
  discord.world.addRole({ guild_id: GUILD, id: "900000000000000032", name: "Some bot", position: 5, managed: true });
  clock.advance(600_000);
}

Deno.test("roles adds and removes roles of officers and members, from Discord's roles without @everyone and managed ones", async () => {
  await withWorld(async (world) => {
    addRoles(world);
    await withAdmin(world, {}, async (admin) => {
      await run(admin, "roles", /^> officers +Officers/m);
      assert.match(admin.text(), /Without a member role everybody on the Discord server is a member\./);
      await admin.press("a");
      const offered = await admin.until("Students");
      assert.doesNotMatch(offered, /everyone|Some bot/);
      await admin.type("tut");
      await admin.press("enter");
      await admin.until(sentence("becomes an officer: root on every pod"));
      await admin.press("y");
      await admin.until(/officers +Tutors/);
      assert.deepEqual((await rolesNow(world)).officer_role_ids, [OFFICER_ROLE, TUTORS]);
      await admin.press("m");
      await admin.type("stud");
      await admin.press("enter");
      await admin.until(sentence("It is the first member role"));
      await admin.press("y");
      await admin.until(/members +Students/);
      assert.deepEqual((await rolesNow(world)).member_role_ids, [STUDENTS]);
      await admin.press("G", "D");
      await admin.until(sentence("everybody on the Discord server is a member"));
      await admin.press("y");
      await admin.untilGone(/members +Students/);
      assert.deepEqual((await rolesNow(world)).member_role_ids, []);
    });
  });
});

Deno.test("roles changes what the server has now, so that another change meanwhile is kept", async () => {
  await withWorld(async (world) => {
    addRoles(world);
    await withAdmin(world, {}, async (admin) => {
      await run(admin, "roles", /^> officers +Officers/m);
      await admin.press("a");
      await admin.until("Students");
      await admin.type("tut");
      await admin.press("enter");
      await admin.until(sentence("becomes an officer"));
      const body = { officer_role_ids: [OFFICER_ROLE, STUDENTS] };
      await world.call("PUT", "/api/compute/org/roles", { as: "operator", body });
      await admin.press("y");
      await admin.until(sentence("makes officers"));
      assert.deepEqual((await rolesNow(world)).officer_role_ids, [OFFICER_ROLE, STUDENTS, TUTORS]);
    });
  });
});

Deno.test("roles are only shown to an officer, and a superadmin changes them", async () => {
  await withWorld(async (world) => {
    const token = await world.token("officer", "officer");
    await withAdmin(world, { token }, async (admin) => {
      await run(admin, "roles", sentence("Only the operator or a superadmin changes roles."));
      assert(!admin.offered().some((offer) => /officer role|member role|remove/.test(offer)));
    });
    const superToken = await world.token("superadmin", "officer");
    await withAdmin(world, { token: superToken }, async (admin) => {
      await run(admin, "roles", /^> officers +Officers/m);
      assert(admin.offered().includes("a officer role"));
    });
  });
});

Deno.test("roles takes a pasted id where Discord cannot be asked, and says why names are missing", async () => {
  const intercept = (request: Request) =>
    request.url.endsWith("/members/roles") ? refusal(503, "Discord is not available; try again shortly") : null;
  await withWorld(async (world) => {
    await withAdmin(world, { intercept, columns: 40, rows: 12 }, async (admin) => {
      await run(admin, "roles", sentence("Names are not known"));
      await admin.until(OFFICER_ROLE.slice(0, 10));
      await admin.press("a");
      await admin.until(sentence("Nothing fits"));
      await admin.paste(TUTORS);
      await admin.until(sentence("as typed"));
      await admin.press("enter", "y");
      await admin.until("The role 9000000000");
      assert.deepEqual((await rolesNow(world)).officer_role_ids, [OFFICER_ROLE, TUTORS]);
    });
  });
});

Deno.test("tokens lists who has one by name, and revokes one after saying what ends", async () => {
  await withPods(["workshop"], { columns: 120 }, async (admin, world) => {
    const cli = await world.token("member", "cli");
    const asMember = () => world.call("GET", "/api/compute/org/me/pods", { token: cli });
    assert.equal((await asMember()).status, 200);
    await run(admin, "tokens", sentence("Tokens 2"));
    assert.match(admin.text(), /^> member +CLI +now/m);
    await admin.press("enter");
    await admin.until(new RegExp(`Discord id +${PEOPLE.member}`));
    assert(!admin.text().includes(cli));
    await admin.press("esc", "/");
    await admin.type("cli");
    await admin.press("enter");
    await admin.until(sentence("Tokens 1 of 2"));
    await admin.press("D");
    await admin.until(sentence("What they got with this token ends"));
    await admin.press("n");
    assert.equal((await asMember()).status, 200);
    await admin.press("D", "y");
    await admin.until(sentence("The token of member is revoked"));
    assert.equal((await asMember()).status, 401);
    await admin.until(sentence("No token is like that; esc shows all."));
  });
});

Deno.test("tokens says the server's sentence when somebody else revoked it first, and shows ids where Discord is away", async () => {
  const intercept = (request: Request) =>
    /\/members\?/.test(request.url) ? refusal(503, "Discord is not available; try again shortly") : null;
  await withWorld(async (world) => {
    await world.token("member", "cli");
    await withAdmin(world, { intercept }, async (admin) => {
      await run(admin, "tokens", new RegExp(`^> ${PEOPLE.member}`, "m"));
      await admin.press("D");
      await admin.until(sentence("Revoke the token"));
      const { id } = world.db.get<{ id: number }>("select id from machine_tokens where kind = 'cli'")!;
      await world.call("DELETE", `/api/compute/org/tokens/${id}`, { as: "operator" });
      await admin.press("y");
      await admin.until(sentence("! Token not found"));
      await admin.until(sentence("No token works now."));
    });
  });
});

Deno.test("tokens: who revokes the token in use is warned, and signs in again", async () => {
  await withWorld(async (world) => {
    const token = await world.token("officer", "officer");
    await withAdmin(world, { token }, async (admin) => {
      await run(admin, "tokens", sentence("Tokens 1"));
      await admin.press("D");
      await admin.until(sentence("If it is the one you use here, you are signed out."));
      await admin.press("y");
      await admin.until(sentence("Sign in to org"));
    });
  });
});

Deno.test("tokens tells what became of the access that was got with a CLI token", async () => {
  const removal = {
    id: 1,
    discord_id: PEOPLE.member,
    state: "open",
    certificates: 2,
    report: "1 connection ended.",
    left: "The pod has not answered yet; it goes on.",
    todo: null,
  };
  const intercept = (request: Request) =>
    request.method === "DELETE"
      ? Response.json({ revoked: 1, removals: [removal, { ...removal, state: "done", left: null }] })
      : null;
  await withWorld(async (world) => {
    await world.token("member", "cli");
    await withAdmin(world, { intercept }, async (admin) => {
      await run(admin, "tokens", sentence("Tokens 1"));
      await admin.press("D", "y");
      const text = await admin.until(sentence("What ended with the token"));
      assert.match(text, /! not done yet, 2 certificates taken back/);
      assert.match(text, /The pod has not answered yet; it goes on\./);
      assert.match(text, /done, 2 certificates/);
    });
  });
});

Deno.test("tokens shows a thousand, and moves to the end of them", async () => {
  await withWorld(async (world) => {
    for (let at = 0; at < 1_000; at++) {
      world.db.run(
        "insert into machine_tokens (org_id, kind, name, scopes, token_hash, display, discord_id, created_by, created_at, " +
          "expires_at) values (1, 'cli', ?, '', ?, 'plat_ab…', ?, 'test', ?, ?)",
        `laptop\x1b[31m${at}`,
        `hash-${at}`,
        String(300000000000000000n + BigInt(at)),
        world.clock.now(),
        world.clock.now() + 1e9,
      );
    }
    await withAdmin(world, { columns: 200, rows: 50 }, async (admin) => {
      await run(admin, "tokens", sentence("Tokens 1000"));
      await admin.press("G");
      await admin.until(/^> 300000000000000000/m);
      await admin.resize(40, 12);
    });
  });
});
