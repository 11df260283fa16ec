/**
 * `deno task walk --seed S --keys N`: walks through the admin with chance at the helm, one after the other for several
 * seeds (`--seed 1-10`). With `--tmux` it is the real program in a real terminal over a demo of its own. Prints a line of
 * JSON for each walk and the screens that were never open; a walk that fails prints the way that led there. Exit code 0
 * when all went well. It works in a temporary folder, which is its home as well.
 */
import { parseArgs } from "node:util";
import { SCREENS } from "../../../admin/ui/screens/list.ts";
import { walkInTmux } from "./tmux.ts";
import { walk, WalkFailed } from "./walk.ts";

/** A walk that takes longer for a key hangs. */
const MOST_MS_PER_KEY = 1_000;
const LEAST_MS = 120_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1-10" },
    keys: { type: "string", default: "2000" },
    tmux: { type: "boolean", default: false },
  },
});
const [, from = "", to = from] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(values.seed) ?? [];
if (from === "" || !/^\d{1,6}$/.test(values.keys)) {
  console.error(`--seed must be a number or a range such as 1-10, and --keys a number: ${values.seed} ${values.keys}`);
  Deno.exit(2);
}
const keys = Number(values.keys);
const seeds = Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at);

const folder = await Deno.makeTempDir({ prefix: "orgpods-walk-" });
// Pods of other accounts look into it.
await Deno.chmod(folder, 0o711);
const own = Deno.cwd();
Deno.chdir(folder);
// No editor, and nothing of this person's own.
Deno.env.set("EDITOR", "true");
Deno.env.set("VISUAL", "true");
if (!values.tmux) Deno.env.set("HOME", folder);
let strays = 0;
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  strays++;
  console.error("A promise was rejected and nobody looked:", event.reason);
});
let failed = 0;
const open = new Set<string>();
try {
  for (const seed of seeds) {
    const begun = performance.now();
    const watch = setTimeout(() => {
      console.error(`seed ${seed} hangs`);
      Deno.exit(1);
    }, Math.max(LEAST_MS, keys * MOST_MS_PER_KEY));
    try {
      await Deno.mkdir(`${folder}/${seed}`);
      const report = await (values.tmux ? walkInTmux : walk)({ seed, keys, folder: `${folder}/${seed}` });
      for (const id of report.screens) open.add(id);
      console.log(JSON.stringify({ ...report, seconds: Math.round((performance.now() - begun) / 1_000) }));
    } catch (error) {
      failed++;
      console.log(error instanceof WalkFailed ? `${error.message}\n${Deno.inspect(error.cause)}` : error);
    } finally {
      clearTimeout(watch);
    }
  }
} finally {
  Deno.chdir(own);
  await Deno.remove(folder, { recursive: true });
}
const never = SCREENS.map(({ id }) => id).filter((id) => !open.has(id));
// In a real terminal nobody tells which screen it is.
if (!values.tmux && never.length > 0) console.log(`Never open: ${never.join(", ")}`);
console.log(
  failed + strays === 0
    ? "All walks ended well"
    : `${failed} of ${seeds.length} walks failed, ${strays} stray rejections`,
);
Deno.exit(failed + strays === 0 ? 0 : 1);
