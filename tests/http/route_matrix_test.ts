import assert from "node:assert/strict";
import type { Guard } from "../../server/http/guards.ts";
import type { Person } from "../support/world.ts";
import {
  type Caller,
  CALLERS,
  COLUMNS,
  type CredentialKind,
  CREDENTIALS,
  pathOf,
  type Row,
  ROWS,
} from "./route_rows.ts";
import {
  cellOf,
  type ClockedWorld,
  freshAddress,
  freshToken,
  letThemLeave,
  openSession,
  ownPage,
  stoppedPod,
  withWorld,
} from "./support.ts";

/** The routes of the running router with their handlers, in order; the gates before all routes are no routes. */
function routesOf(world: ClockedWorld): Map<string, unknown[]> {
  const routes = new Map<string, unknown[]>();
  for (const { method, path, handler } of world.app.router.routes) {
    if (method === "ALL") continue;
    const name = `${method} ${path}`;
    routes.set(name, [...routes.get(name) ?? [], handler]);
  }
  return routes;
}

const guardOf = (handler: unknown) => (handler as Partial<Guard>).guard;

Deno.test("every route begins with exactly one guard, and it is the one its row names", () =>
  withWorld(async (world) => {
    await Promise.resolve();
    const routes = routesOf(world);
    assert.ok(routes.size > 40, `only ${routes.size} routes were found`);
    for (const [route, handlers] of routes) {
      const guards = handlers.map(guardOf);
      assert.equal(guards.filter((guard) => guard !== undefined).length, 1, `${route} has not exactly one guard`);
      assert.notEqual(guards[0], undefined, `${route} does something before its guard`);
      assert.equal(guards[0], ROWS[route]?.guard, `${route} has no row in route_rows.ts, or one with another guard`);
    }
    assert.deepEqual([...routes.keys()].sort(), Object.keys(ROWS).sort(), "a row stands for no route");
  }));

async function headersOf(world: ClockedWorld, caller: Caller, kind: CredentialKind): Promise<Record<string, string>> {
  if (caller === "nobody" || caller === "operator") return {};
  const person: Person = caller;
  if (kind === "session") return ownPage(openSession(world, person));
  const token = await freshToken(world, person, kind, person === "otherOfficer" ? "other" : "org");
  return { authorization: `Bearer ${token}` };
}

async function callRow(
  world: ClockedWorld,
  route: string,
  row: Row,
  caller: Caller,
  kind: CredentialKind,
  pod: string,
) {
  const { method, path } = pathOf(route, row, pod);
  return await world.call(method, path, {
    ...(caller === "operator" ? { as: "operator" as const } : {}),
    headers: await headersOf(world, caller, kind),
    address: freshAddress(),
    ...(row.body === undefined ? {} : { body: row.body }),
  });
}

for (const kind of CREDENTIALS) {
  Deno.test(`every route answers every caller as its row says when they show a credential of the kind ${kind}`, () =>
    withWorld(async (world) => {
      await letThemLeave(world);
      const pod = await stoppedPod(world);
      const wrong: string[] = [];
      let calls = 0;
      for (const [route, row] of Object.entries(ROWS)) {
        for (const caller of CALLERS) {
          const column = COLUMNS[row.guard][kind][caller];
          const wanted = column === "allowed" ? row.except?.[caller] ?? row.allowed : column;
          const answer = await callRow(world, route, row, caller, kind, pod);
          calls++;
          if (cellOf(answer) !== wanted) {
            wrong.push(`${route} for ${caller}: wanted ${wanted}, was ${cellOf(answer)} ${answer.text.slice(0, 120)}`);
          }
        }
      }
      assert.deepEqual(wrong, []);
      assert.equal(calls, Object.keys(ROWS).length * CALLERS.length);
    }));
}
