import assert from "node:assert/strict";
import { actionWords, podText, shortWho } from "../../admin/ui/data/audit_words.ts";
import { personText } from "../../admin/ui/data/members.ts";
import { ROWS } from "../http/route_rows.ts";

/** A route as the audit names it. */
function whole(route: string): string {
  return route.replace(/^(\S+) \/(?!api\/)/, "$1 /api/compute/:org/");
}

/** Routes that leave no row in the audit, or only one of a refusal. */
const UNAUDITED = [
  "POST /session/logout",
  "POST /pods/:id/files/stat",
  "POST /api/operator/orgs/:prefix/check",
].map(whole);

Deno.test("actionWords has words for every route that changes something", () => {
  const without = Object.keys(ROWS)
    .filter((route) => /^(?:POST|PUT|PATCH|DELETE) /.test(route))
    .map(whole)
    .filter((route) => !UNAUDITED.includes(route))
    .filter((action) => / \//.test(actionWords({ action, details: {} }, "org")));
  assert.deepEqual(without, []);
});

Deno.test("actionWords tells apart what one route does, and leaves what it does not know", () => {
  const words = (action: string, details = {}) => actionWords({ action, details }, "org");
  const act = "POST /api/compute/:org/pods/:id/action";
  assert.equal(words(act, { action: "terminate" }), "terminate the pod");
  assert.equal(words(act, { action: "x\n" }), "start, stop or terminate");
  const disconnect = "POST /api/compute/:org/pods/:id/members/:discordId/disconnect";
  assert.equal(words(disconnect, { blocked: "2" }), "block on the pod");
  assert.equal(words(disconnect, { access_ended: "2" }), "end somebody's access");
  assert.equal(words(disconnect), "disconnect somebody");
  assert.equal(words("GET /api/compute/org/tokens"), "GET /tokens");
});

Deno.test("personText calls the operator so, and somebody whose name is not known by the id", () => {
  const nothing = { value: undefined, at: null, problem: null, isLoading: true };
  const named = { ...nothing, value: [{ id: "200000000000000002", name: "Mo" }] };
  const text = (id: string, reading: unknown = nothing) => personText({ read: () => reading as never }, id);
  assert.equal(text("local:uid-0"), "the server's operator");
  assert.equal(text("200000000000000002", named), "Mo");
  assert.equal(text("200000000000000002"), "200000000000000002");
  assert.equal(text("schedule"), "schedule");
});

Deno.test("podText and shortWho take the shortest that is known", () => {
  const names = new Map([["a1", "workshop"]]);
  assert.equal(podText({ pod_id: "a1", details: { name: "old" } }, names), "workshop");
  assert.equal(podText({ pod_id: "b2", details: { name: "old" } }, names), "old");
  assert.equal(podText({ pod_id: "b2", details: {} }, names), "b2");
  assert.equal(podText({ pod_id: null, details: {} }, names), "");
  assert.equal(shortWho({ actor_kind: "local", actor_id: "uid-0", actor_name: null }), "operator");
  assert.equal(shortWho({ actor_kind: "user", actor_id: "2", actor_name: "Mo" }), "Mo");
});
