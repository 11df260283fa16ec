import { fileURLToPath } from "node:url";
import { startProgram } from "../tests/support/process.ts";
import { run } from "../tests/demo/pods_support.ts";
import { type Figure } from "./figures.ts";
import { alternate, median } from "./rounds.ts";
import { type BenchWorld, stop } from "./world.ts";

const PODS = 1_000;
const [COLUMNS, ROWS] = [120, 40];
/** Starts of each program. */
const STARTS = 9;
/** Keys pressed to see how long a frame takes, seconds at rest, seconds of moving, and keys in a second of it. */
const FULL = { keys: 60, rest_s: 20, move_s: 6, per_s: 20 };
const START_ONLY = { keys: 0, rest_s: 0, move_s: 0, per_s: 1 };

interface Measured {
  readonly first_ms: number;
  readonly ready_ms: number;
  readonly key_ms: readonly number[];
  readonly rest_bytes: number;
  readonly move_bytes: number;
  readonly rss_kb: number;
}

interface Program {
  readonly argv: readonly string[];
  readonly first: string;
  readonly ready: string;
}

/**
 * The terminal admin beside a running server with 1,000 pods, in a terminal of 120x40: how long until the first frame and
 * the list, how long from a key to a frame, what it sends, and its memory. The peers are made with the same drawing
 * library: an empty program, and a list that is drawn in full for every key.
 */
export async function benchAdmin(world: BenchWorld): Promise<Figure[]> {
  const dataDir = `${world.folder}/admin-pods`;
  const server = startProgram("bench/many_pods_program.ts", { args: [dataDir, String(PODS)] });
  try {
    await server.line(/The pods are ready/);
    const top = fileURLToPath(new URL("../", import.meta.url));
    const deno = [Deno.execPath(), "run", "-A", "--no-check", "--quiet"];
    const admin = {
      argv: [...deno, `${top}main.ts`, "--data-dir", dataDir, "admin"],
      first: "connected",
      ready: "> pod 0",
    };
    const peer = (kind: string, ready: string): Program => ({
      argv: [...deno, `${top}bench/ink_program.tsx`, kind],
      first: ready,
      ready,
    });
    const empty = peer("empty", "the empty program is ready");
    const list = peer("list", "the list is ready");
    const starts = await alternate(STARTS, {
      admin: () => measure(admin, START_ONLY),
      empty: () => measure(empty, START_ONLY),
    });
    const moving = await measure(admin, FULL);
    const peerMoving = await measure(list, FULL);
    return figures(starts, moving, peerMoving);
  } finally {
    await stop(server);
  }
}

async function measure({ argv, first, ready }: Program, what: typeof FULL): Promise<Measured> {
  const env = {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: Deno.env.get("HOME") ?? "",
    DENO_NO_UPDATE_CHECK: "1",
    NODE_ENV: "production",
    TERM: "xterm-256color",
  };
  const task = { argv, env, columns: COLUMNS, rows: ROWS, first, ready, key: "j", ...what };
  const program = fileURLToPath(new URL("terminal.py", import.meta.url));
  const { code, out, err } = await run("python3", [program], JSON.stringify(task));
  if (code !== 0) throw new Error(`The terminal could not be measured: ${err}`);
  return JSON.parse(out) as Measured;
}

function figures(
  starts: { readonly admin: readonly Measured[]; readonly empty: readonly Measured[] },
  admin: Measured,
  list: Measured,
): Figure[] {
  const firstMs = median(starts.admin.map(({ first_ms }) => first_ms));
  const readyMs = median(starts.admin.map(({ ready_ms }) => ready_ms));
  const emptyMs = median(starts.empty.map(({ first_ms }) => first_ms));
  const keyMs = median(admin.key_ms);
  const slow = admin.key_ms.toSorted((a, b) => a - b)[Math.floor(admin.key_ms.length * 0.95)]!;
  const perSecond = ({ move_bytes }: Measured) => move_bytes / FULL.move_s;
  const start = { unit: "ms", peer: "an empty Ink program", peerValue: emptyMs } as const;
  const moved = { peer: "a list drawn in full by Ink", unit: "B/s" } as const;
  const fastest = Math.min(...starts.admin.map(({ first_ms }) => first_ms));
  return [
    {
      ...start,
      figure: "admin, first frame",
      value: firstMs,
      compared: { how: "difference", value: firstMs - emptyMs },
      goal: { text: "under 450 ms", met: firstMs < 450 },
      note: `from the start of the process, ${STARTS} rounds, fastest ${
        fastest.toFixed(0)
      } ms; deno run, ${COLUMNS}x${ROWS}.`,
    },
    {
      ...start,
      figure: "admin, list of 1,000 pods",
      value: readyMs,
      compared: { how: "difference", value: readyMs - emptyMs },
    },
    {
      figure: "admin, key to frame",
      value: keyMs,
      unit: "ms",
      peer: moved.peer,
      peerValue: median(list.key_ms),
      compared: { how: "value", value: keyMs },
      goal: { text: "a frame, 33 ms", met: keyMs <= 33 },
      note: `median of ${admin.key_ms.length} keys, to the first byte; 95 % within ${slow.toFixed(0)} ms.`,
    },
    {
      ...moved,
      figure: "admin, sent while moving",
      value: perSecond(admin),
      peerValue: perSecond(list),
      compared: { how: "ratio", value: perSecond(admin) / perSecond(list) },
      note: `${FULL.per_s} keys a second through the list.`,
    },
    {
      ...moved,
      figure: "admin, sent at rest",
      value: admin.rest_bytes / FULL.rest_s,
      peerValue: list.rest_bytes / FULL.rest_s,
      compared: { how: "value", value: admin.rest_bytes / FULL.rest_s },
      note: `${FULL.rest_s} s, in which the list was loaded again every 5 s; the peer loads nothing.`,
    },
    {
      figure: "admin, memory (RSS)",
      value: admin.rss_kb * 1024 / 1e6,
      unit: "MB",
      peer: "the same list by Ink",
      peerValue: list.rss_kb * 1024 / 1e6,
      compared: { how: "value", value: admin.rss_kb * 1024 / 1e6 },
    },
  ];
}
