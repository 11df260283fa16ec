/** The RunPod key of the org: set, tested and removed. */
import { runpodKeySchema } from "../../../server/identity/runpod_key_request.ts";
import { read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { type FormParams, formScreen } from "../widgets/form/screen.ts";
import type { Field } from "../widgets/form/fields.ts";
import { askThenForce } from "./live_pods.ts";

const KEY: Field = {
  name: "api_key",
  label: "API key",
  kind: "text",
  isSecret: true,
  hint: "Paste it; it is not shown. RunPod's console makes one under Settings > API Keys (read and write).",
};
/** Where a key is set already, one of another account needs a word. */
const REPLACE: Field = {
  name: "replace",
  label: "Other account",
  kind: "switch",
  on: "yes, lose sight of the old one's pods",
  off: "no, the account stays",
  hint: "Only for a key of another RunPod account: pods of the old one go on costing money, unseen from here.",
};

/** Asks for the key; RunPod is asked whether it works before it is stored. */
export function openKeyForm(ui: Ui, { isSet }: { readonly isSet: boolean }): void {
  const params: FormParams = {
    title: "RunPod key",
    fields: isSet ? [KEY, REPLACE] : [KEY],
    schema: runpodKeySchema,
    send: "Save the key",
    work: (body) => (api, org) =>
      read(
        api.org.integrations.runpod.$put({ param: { org }, json: body as { api_key: string; replace?: boolean } }),
      ),
    done: (_, at) => at.say("The RunPod key works and is saved"),
  };
  ui.open(formScreen, params);
}

/** Asks RunPod with the stored key, and says how many pods its account has. */
export async function testKey(ui: Ui): Promise<void> {
  const tested = await ui.call(
    "Test the RunPod key",
    async (api, org) => (await read(api.org.integrations.runpod.test.$post({ param: { org } }))).value,
  );
  if (tested !== null) ui.say(tested.message);
}

/** Removes the key after asking; where pods are live, after the server's list of them and a second question. */
export function confirmRemoveKey(ui: Ui): void {
  ui.open(confirmScreen, {
    title: "Remove the RunPod key",
    lines: () => ["Without it pods cannot be seen, started or stopped from here, and sessions do not run."],
    yes: "remove it",
    onYes: (at) =>
      askThenForce(at, {
        what: "Remove the RunPod key",
        warning: "They go on running and costing money, and nobody can stop them from here any more.",
        yes: "remove the key all the same",
        work: (force) => async (api, org) =>
          (await read(
            api.org.integrations.runpod.$delete({ param: { org }, query: { force: force ? "true" : "false" } }),
          )).value,
        done: ({ removed }, ui) => ui.say(removed ? "The RunPod key is removed" : "There was no RunPod key any more"),
      }),
  });
}
