/** A screen of the test's own, from which it opens what it tries. */
import { defineScreen, type Ui } from "../../admin/ui/core/screen.ts";
import { line } from "../../admin/ui/text/line.ts";
import { type FakeAdmin, type FakeAdminOptions, withAdmin } from "../support/fake_admin.ts";
import { withWorld } from "./support.ts";

/** A screen whose one key does what a test wants. */
const host = (run: (ui: Ui) => unknown) =>
  defineScreen<null, null>({
    id: "host",
    title: () => "Host",
    init: () => null,
    actions: [{ keys: ["g"], label: "go", run }],
    view: () => [line("The host")],
  });

/** Runs `use` on that screen; `g` does what `run` says. */
export async function withHost(
  run: (ui: Ui) => unknown,
  use: (admin: FakeAdmin) => Promise<void>,
  options: FakeAdminOptions = {},
): Promise<void> {
  await withWorld((world) => withAdmin(world, { ...options, first: { screen: host(run), params: null } }, use));
}
