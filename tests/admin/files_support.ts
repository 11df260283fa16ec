/** The files screens over a pod: a real sshd in the test's process, or answers made up for bad days. */
import { join } from "node:path";
import { bytesOf } from "../../admin/commands/pod_path.ts";
import { filesScreen } from "../../admin/ui/screens/files/browse.ts";
import { type FileScene, type SceneOptions, withFiles } from "../files/support.ts";
import { type FakeAdmin, type FakeAdminOptions, withAdmin } from "../support/fake_admin.ts";
import { type TestWorld, withWorld } from "./support.ts";
import { createRunningPod } from "../support/world.ts";

export interface FilesPlace extends FileScene {
  readonly admin: FakeAdmin;
  /** An empty folder of this machine, which is the home folder of the officer. */
  readonly home: string;
  /** What stands in the pod's folder `/workspace`, seen from here. */
  inPod(name: string): string;
}

/** A home folder of its own, removed afterwards. */
export async function withHome(use: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    await use(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

export const filesAt = (id: string, path = "/workspace") => ({
  screen: filesScreen,
  params: { pod: { id, name: "workshop" }, path: bytesOf(path, undefined), isBelow: false, selected: null },
});

/** The files screen at `/workspace` of a pod with a real sshd; `prepare` fills it first. */
export async function withPodFiles(
  { prepare, scene = {}, ...options }: FakeAdminOptions & {
    readonly prepare?: (volume: string) => Promise<void> | void;
    readonly scene?: SceneOptions;
  },
  use: (place: FilesPlace) => Promise<void>,
): Promise<void> {
  await withHome((home) =>
    withFiles(async (one) => {
      await prepare?.(one.volume);
      const env = { HOME: home, ...options.env };
      await withAdmin(one.world, { ...options, env, first: filesAt(one.pod) }, async (admin) => {
        await admin.until("entr");
        await use({ ...one, admin, home, inPod: (name) => join(one.volume, name) });
      });
    }, scene)
  );
}

/** An entry of a listing as the server tells it. */
export function entry(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, type: "file", size: 10, modified: 1_764_000_000, permissions: "644", uid: 0, gid: 0, ...more };
}

/** The files screen over a pod whose file routes answer what `answer` gives; null lets a call through. */
export async function withFileAnswers(
  answer: (route: string, request: Request) => Response | Promise<Response> | null,
  options: Omit<FakeAdminOptions, "first" | "intercept">,
  use: (admin: FakeAdmin, world: TestWorld, pod: string) => Promise<void>,
): Promise<void> {
  const intercept = (request: Request) => {
    const route = /\/pods\/[^/]+\/files(?:\/([a-z]+))?$/.exec(new URL(request.url).pathname);
    return route === null ? null : answer(route[1] ?? "list", request);
  };
  await withWorld(async (world) => {
    const pod = await createRunningPod(world, { name: "workshop" });
    await withAdmin(world, { ...options, intercept, first: filesAt(pod) }, (admin) => use(admin, world, pod));
  });
}

/** A listing as the server answers it. */
export function listing(
  entries: readonly Record<string, unknown>[],
  more: Record<string, unknown> = {},
): Response {
  return Response.json({ path: "/workspace", files: entries, cursor: null, total: entries.length, ...more });
}

/** The path where an edited text is kept, as a dialog tells it: broken over lines where it is long. */
export function keptPath(screen: string, name: string): string {
  const told = (screen.split("Your text is kept in")[1] ?? "").split("\n");
  const text = told.map((line) => line.replace(/^.*│ |│.*$/g, "").trim()).join("");
  const at = text.indexOf(`/${name}`);
  if (!text.startsWith("/") || at < 0) throw new Error(`No path of ${name} is told:\n${screen}`);
  return text.slice(0, at + name.length + 1);
}

/** Whether something is at a path of this machine. */
export const exists = (path: string) =>
  Deno.lstat(path).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
