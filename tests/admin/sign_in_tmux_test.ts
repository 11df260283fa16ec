/** Signing in again, and other organizations, in the real program in a real terminal, against the demo. */
import assert from "node:assert/strict";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { inTmux, type Tmux, type TmuxOptions } from "../support/tmux.ts";
import { envAt, inAdmin, programWords } from "./program.ts";
import { sentence } from "./support.ts";
import { command, goTo, untilGone } from "./terminal_steps.ts";

const ignore = lacks("tmux");

const OTHER = { prefix: "robotics", name: "Robotics Club" } as const;
const OTHER_GUILD = "900000000000000002";
const BOARD = "900000000000000020";

/** Adds an organization of another Discord server, in which the demo's officer is an officer too. */
async function addOrg(demo: DemoProcess): Promise<void> {
  const { discord_id } = demo.facts.officer;
  const change = (body: Record<string, unknown>) => demo.control("discord", "/_demo/world", body);
  await change({ action: "add_guild", id: OTHER_GUILD, name: OTHER.name, owner_id: discord_id });
  await change({ action: "add_role", guild_id: OTHER_GUILD, id: BOARD, name: "Board", position: 2 });
  await change({ action: "set_roles", guild_id: OTHER_GUILD, user_id: discord_id, roles: [BOARD] });
  const body = { ...OTHER, guild_id: OTHER_GUILD, officer_role_ids: [BOARD] };
  const { status, json } = await demo.operator("POST", "/api/operator/orgs", body);
  assert.equal(status, 201, JSON.stringify(json));
}

async function officerToken(demo: DemoProcess, org: string): Promise<string> {
  const body = { kind: "officer", discord_id: demo.facts.officer.discord_id };
  const { status, json } = await demo.operator("POST", `/api/compute/${org}/tokens`, body);
  assert.equal(status, 201, JSON.stringify(json));
  return json.token;
}

/** The header while one is in an organization; a narrow one leaves the program's name out. */
const inOrg = (org: string) => new RegExp(`^ (orgpods {2})?${org}\\b.*connected`);

async function budgetOf(demo: DemoProcess, org: string): Promise<unknown> {
  return (await demo.operator("GET", `/api/compute/${org}/settings`)).json.settings.monthly_budget_usd;
}

/** Sets a budget from the terminal, which shows in whose name it acts. */
async function setBudget(terminal: Tmux, usd: number): Promise<void> {
  await command(terminal, "spend");
  await terminal.until("b budget");
  await terminal.keys("b");
  await terminal.until("> Budget");
  await terminal.keys("C-u");
  await terminal.type(String(usd));
  await terminal.until(new RegExp(`${usd} +USD`));
  await terminal.keys("C-s");
  await terminal.until(`of $${usd}.00`);
}

/** Runs `use` with an admin on a laptop: by the address of the server, with a home of its own and a token in a file. */
async function onLaptop(
  demo: DemoProcess,
  options: Omit<TmuxOptions, "command" | "env">,
  use: (terminal: Tmux, token: string) => Promise<void>,
): Promise<void> {
  const { url, org } = demo.facts;
  const home = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    const token = await officerToken(demo, org);
    await Deno.writeTextFile(`${home}/token`, token, { mode: 0o600 });
    const words = programWords(["--server", url, "--org", org, "--token-file", `${home}/token`, "admin"]);
    await inTmux({ ...options, command: words, env: await envAt(home) }, (terminal) => use(terminal, token));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test({
  name: "a token that is revoked while a new pod is typed leads to a sign-in that keeps the form, and the pod is made",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const base = `/api/compute/${demo.facts.org}`;
      for (const [columns, rows] of [[80, 24], [40, 12], [200, 50]] as const) {
        const name = `lab-${columns}`;
        await onLaptop(demo, { columns, rows }, async (terminal, token) => {
          await terminal.until(/^> /m);
          await terminal.keys("n");
          await terminal.until("Cost: $0.25/hr and disks from now on.");
          await terminal.type(name);
          await terminal.until(new RegExp(`> Name +${name}`));
          await goTo(terminal, "Hardware");
          await terminal.keys("Space");
          await terminal.until("Cost: $0.060/hr");
          await goTo(terminal, "Image");
          await terminal.type("society/lab:3");
          await terminal.until("society/lab:3");

          const { json } = await demo.operator("GET", `${base}/tokens`);
          const own = json.tokens.filter(({ kind, display }: { kind: string; display: string }) =>
            kind === "officer" && token.startsWith(display)
          );
          assert.equal(own.length, 1);
          assert.equal((await demo.operator("DELETE", `${base}/tokens/${own[0].id}`)).status, 200);
          await terminal.keys("C-s");
          await terminal.until("Sign in to demo");
          await terminal.until(sentence("Token is invalid!"));
          await terminal.paste("plat_of_yesterday");
          await terminal.until("Token: *");
          await terminal.keys("Enter");
          await terminal.until(/Token: *│?$/m);
          const fresh = await officerToken(demo, demo.facts.org);
          await terminal.paste(fresh);
          await terminal.until("Token: *");
          await terminal.keys("Enter");
          await terminal.until("You are signed in");
          assert(!(await terminal.screen()).includes(fresh.slice(0, 20)));
          await terminal.until(/> Image +society\/lab:3/);
          await terminal.until(sentence("Not sent, because you were signed out: send it again."));
          await terminal.keys("C-s");
          await terminal.until(new RegExp(`> ${name}`));
          const made = (await demo.operator("GET", `${base}/pods`)).json.pods.filter((pod: { name: string }) =>
            pod.name === name
          );
          assert.equal(made.length, 1);
          await terminal.keys("C-c");
          await terminal.until("rc=0");
        });
      }
    }),
});

Deno.test({
  name: "the operator chooses an organization, acts there, and goes to another one and back",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await addOrg(demo);
      for (const [columns, rows] of [[80, 24], [40, 12], [200, 50]] as const) {
        await inAdmin(demo, { columns, rows }, async (terminal) => {
          await terminal.until(/^> demo/m);
          await terminal.until(/^ {2}robotics/m);
          await terminal.keys("j");
          await terminal.until(/^> robotics/m);
          await terminal.keys("Enter");
          await terminal.until(inOrg("robotics"));
          await terminal.until("Connect a hosting provider");
          await setBudget(terminal, columns);
          assert.equal(await budgetOf(demo, "robotics"), columns);
          assert.equal(await budgetOf(demo, "demo"), null);

          await command(terminal, "orgs");
          await terminal.until(/^> robotics +Robotics Club/m);
          await command(terminal, "org nosuch");
          await terminal.until("Organization not found");
          await command(terminal, "org demo");
          await terminal.until(inOrg("demo"));
          await terminal.until(/^> workshop/m);
          await command(terminal, "orgs");
          await terminal.until(/^> robotics +Robotics Club/m);
          await terminal.keys("k");
          await terminal.until(/^> demo +Demo Society/m);
          await terminal.keys("Enter");
          await terminal.until(/^> workshop/m);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
      await inAdmin(demo, { args: ["--org", "robotics"] }, async (terminal) => {
        await terminal.until("Connect a hosting provider");
        await terminal.keys("q");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "an officer on a laptop goes to another organization by signing in to it, and back without",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await addOrg(demo);
      for (const [columns, rows] of [[80, 24], [40, 12]] as const) {
        await onLaptop(demo, { columns, rows }, async (terminal, token) => {
          const signInTo = async (org: string) => {
            await terminal.keys("n");
            await terminal.until("> Prefix");
            await terminal.type(org);
            await terminal.until(new RegExp(`> Prefix +${org}`));
            await terminal.keys("C-s");
          };
          await terminal.until(/^> workshop/m);
          await command(terminal, "orgs");
          await terminal.until(/^> demo +Demo Society/m);
          await terminal.until(sentence("A token is for one organization; n signs in to another one."));
          assert.doesNotMatch(await terminal.screen(), /robotics/);
          await signInTo("robotics");
          await terminal.until("Sign in to robotics");
          await terminal.keys("Escape");
          await untilGone(terminal, "Sign in to");
          await signInTo("robotics");
          await terminal.until("Sign in to robotics");
          // The token of one organization is none of another.
          await terminal.paste(token);
          await terminal.until("Token: *");
          await terminal.keys("Enter");
          await terminal.until(sentence("! Token is invalid!"));
          await terminal.paste(await officerToken(demo, "robotics"));
          await terminal.until("Token: *");
          await terminal.keys("Enter");
          await terminal.until(inOrg("robotics"));
          await setBudget(terminal, columns);
          assert.equal(await budgetOf(demo, "robotics"), columns);
          assert.equal(await budgetOf(demo, "demo"), null);

          await command(terminal, "orgs");
          await terminal.until(/^> robotics +Robotics Club/m);
          await signInTo("demo");
          await terminal.until(inOrg("demo"));
          await terminal.until(/^> workshop/m);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});
