import assert from "node:assert/strict";
import type { GuardName } from "../../server/http/guards.ts";
import { ROWS } from "./route_rows.ts";

const README = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
const PAGES = ["GET /", "GET /:org", "GET /health"];

/** How the README calls those whom a guard lets in. */
const WHO: Readonly<Record<GuardName, string>> = {
  public: "anybody",
  member: "member",
  officer: "officer",
  superadmin: "operator or superadmin",
  operator: "operator",
  signed_in: "member, officer",
  token_owner: "its owner",
  session_owner: "its owner",
};

Deno.test("the README's table names every route of the router and who may call it, and no other", () => {
  const named = [...README.matchAll(/^\| `([A-Z]+ \/[^`]*)` +\| ([^|]*?) +\|/gm)].map(([, route, who]) =>
    `${route}: ${who}`
  );
  const wanted = Object.entries(ROWS).filter(([route]) => !PAGES.includes(route)).map(([route, { guard }]) =>
    `${route.replace("/api/compute/:org", "")}: ${WHO[guard]}`
  );
  assert.deepEqual(named.sort(), wanted.sort());
  for (const page of PAGES) assert.ok(README.includes(`\`${page}\``), page);
});

Deno.test("no code in the README's prose is broken over two lines", () => {
  let isBlock = false;
  const broken = README.split("\n").filter((line) => {
    if (/^ *```/.test(line)) {
      isBlock = !isBlock;
      return false;
    }
    return !isBlock && (line.match(/`/g)?.length ?? 0) % 2 === 1;
  });
  assert.deepEqual(broken, []);
});
