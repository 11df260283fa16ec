/** A server that is newer than the admin: fields and words that it does not know, and routes that are not there any more. */
import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";
import { type Intercept, withAdmin } from "../support/fake_admin.ts";
import { createRunningPod, eventually } from "../support/world.ts";
import { openedBy, type ScreenFacts } from "./screen_params.ts";
import { refusal, type TestWorld, withWorld } from "./support.ts";

/** Fields whose value is one of a few words. */
const WORDS =
  /^(?:status|state|kind|outcome|reason|phase|cloud|availability|format|type|actor_kind|role|provider|group|on_gpu_taken)$/;

/** The same answer with a field that nobody knows in each object, and new words in the place of known ones. */
function newer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(newer);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, one]) =>
    [name, WORDS.test(name) && typeof one === "string" ? "brand.new_word" : newer(one)] as const
  );
  return { brand_new_field: { deep: [1, "two", null] }, ...Object.fromEntries(fields) };
}

async function furnish(world: TestWorld): Promise<ScreenFacts> {
  const id = await createRunningPod(world, { name: "workshop" });
  const must = async (path: string, body: unknown) => {
    const { status, json, text } = await world.call("POST", `/api/compute/org/${path}`, { as: "officer", body });
    assert(status < 300, text);
    return json;
  };
  const at = Date.UTC(2026, 11, 24, 18);
  const times = { start_at: new Date(at).toISOString(), stop_at: new Date(at + 3_600_000).toISOString() };
  const { session } = await must(`pods/${id}/sessions`, times);
  const hook = { name: "hook", format: "signed", url: "https://93.184.216.34/hook", kinds: ["pod.started"] };
  const { webhook } = await must("webhooks", hook);
  return { pod: { id, name: "workshop" }, sessionId: session.id, webhookId: webhook.id };
}

/** Sends a request as the operator. */
const send = (world: TestWorld, request: Request) =>
  world.app.fetch(request, { isOperator: true, account: "test", address: "192.0.2.9" });

for (const screen of SCREENS) {
  Deno.test(`the screen ${screen.id} shows a newer server's answers, and says which routes are missing`, () =>
    withWorld(async (world) => {
      const facts = await furnish(world);
      let answers = 0;
      let isMissing = false;
      const intercept: Intercept = async (request) => {
        if (isMissing) return refusal(404, "There is no such route", "not_found");
        const answer = await send(world, request);
        if (!answer.headers.get("content-type")?.startsWith("application/json")) return answer;
        answers++;
        return Response.json(newer(await answer.json()), { status: answer.status });
      };
      const first = { screen, params: openedBy(screen, facts) };
      await withAdmin(world, { columns: 120, rows: 40, first, intercept }, async (admin) => {
        await admin.until(/quit|more/);
        await eventually(() => !admin.admin.isLoading, "all that is shown is loaded");
        assert(answers > 0, "nothing was asked");
        for (const key of ["j", "enter", "?", "esc", "esc", "o", "G"]) await admin.press(key);
        isMissing = true;
        await admin.press("ctrl-r");
        assert.match(admin.text(), /● connected/);
      });
    }));
}
