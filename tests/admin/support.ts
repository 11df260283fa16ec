/** What the tests of the screens share: a world with running pods, and the admin over it. */
import { type FakeAdmin, type FakeAdminOptions, withAdmin } from "../support/fake_admin.ts";
import { createRunningPod, createWorld, type TestClock, testClock, type World } from "../support/world.ts";

export type TestWorld = World & { readonly clock: TestClock };

export async function withWorld(use: (world: TestWorld) => Promise<void>): Promise<void> {
  const clock = testClock();
  const world = await createWorld({ clock }) as TestWorld;
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

/** Running pods by their names, public CPU pods unless a body says otherwise, and the admin over them. */
export async function withPods(
  pods: readonly (string | Record<string, unknown>)[],
  options: FakeAdminOptions,
  use: (admin: FakeAdmin, world: TestWorld, ids: string[]) => Promise<void>,
): Promise<void> {
  await withWorld(async (world) => {
    const ids: string[] = [];
    for (const pod of pods) ids.push(await createRunningPod(world, typeof pod === "string" ? { name: pod } : pod));
    await withAdmin(world, options, (admin) => use(admin, world, ids));
  });
}

/** The org's pods as the API shows them. */
// deno-lint-ignore no-explicit-any
export async function podsNow(world: World): Promise<any[]> {
  return (await world.call("GET", "/api/compute/org/pods", { as: "officer" })).json.pods;
}

export function refusal(status: number, error: string, code?: string): Response {
  return Response.json({ error, ...(code === undefined ? {} : { code }) }, { status });
}

/** Types a command, and waits for what its screen shows. */
export async function run(admin: FakeAdmin, command: string, want: string | RegExp): Promise<string> {
  await admin.press(":");
  await admin.type(command);
  await admin.press("enter");
  return await admin.until(want);
}

/** A sentence as it may stand on the screen, broken over lines anywhere between its words. */
export function sentence(text: string): RegExp {
  const words = text.split(" ").map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(words.join("[\\s\u2502]+"));
}
