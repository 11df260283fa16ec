/**
 * `deno task pictures`: takes the pictures of the README from the real program in a real terminal, over a demo with a few
 * pods, sessions and files, and writes them to `docs/screens`. It needs tmux.
 */
import { type DemoProcess, withDemo } from "../../support/demo_process.ts";
import type { Tmux } from "../../support/tmux.ts";
import { eventually } from "../../support/world.ts";
import { inAdmin } from "../program.ts";
import { styledLines } from "./styled_text.ts";
import { svgOf } from "./svg.ts";

const FOLDER = new URL("../../../docs/screens/", import.meta.url);
const ENV = { TZ: "America/Phoenix", NO_COLOR: "", FORCE_COLOR: "", COLORTERM: "", CI: "" };
const HOUR = 3_600_000;

interface Picture {
  readonly name: string;
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  /** From the list of pods to what is to be seen. */
  show(terminal: Tmux): Promise<void>;
}

async function press(terminal: Tmux, key: string, want: string | RegExp): Promise<void> {
  await terminal.keys(key);
  await terminal.until(want);
}

const PICTURES: readonly Picture[] = [
  {
    name: "pods",
    title: "The list of pods, with the selected one beside it",
    columns: 130,
    rows: 24,
    show: async (terminal) => {
      await press(terminal, "o", /\^NAME/);
      await terminal.until(/> course-2026/);
      await press(terminal, "j", /> gpu-lab/);
    },
  },
  {
    name: "pod",
    title: "One pod: its state, who may enter, its events",
    columns: 100,
    rows: 28,
    show: (terminal) => press(terminal, "Enter", "Events"),
  },
  {
    name: "new-pod",
    title: "The form of a new pod, with its cost above the fields",
    columns: 100,
    rows: 28,
    show: async (terminal) => {
      await press(terminal, "n", "Cost: ");
      await terminal.type("protein-folding");
      await terminal.keys("Tab", "Tab", "Enter");
      await terminal.until(/L40S/);
    },
  },
  {
    name: "sessions",
    title: "The sessions of all pods as a calendar",
    columns: 110,
    rows: 24,
    show: async (terminal) => {
      await terminal.type(":sessions\n");
      await terminal.until(/Scheduled[^]*Scheduled/);
    },
  },
  {
    name: "files",
    title: "The files of a running pod",
    columns: 100,
    rows: 22,
    show: async (terminal) => {
      await terminal.type("/workshop\n");
      await terminal.until("Pods 1 of");
      await press(terminal, "Enter", "Pod id");
      await press(terminal, "f", "notes.md");
    },
  },
];

/** Pods, a series of sessions and files, made through the API as officers make them. */
async function furnish({ operator, facts }: DemoProcess): Promise<void> {
  const base = `/api/compute/${facts.org}/pods`;
  // deno-lint-ignore no-explicit-any
  const must = async (path: string, body: unknown): Promise<any> => {
    const { status, json } = await operator("POST", path, body);
    if (status >= 300) throw new Error(`${path} answered ${status}: ${JSON.stringify(json)}`);
    return json;
  };
  const gpu = { gpu_type_id: "NVIDIA RTX A4000", volume_in_gb: 20 };
  const lab = (await must(base, { name: "gpu-lab", ...gpu, allowed_users: [facts.member.discord_id] })).pod;
  const course = (await must(base, { name: "course-2026", ...gpu, is_public: true })).pod;
  await eventually(
    async () => {
      const { pods } = (await operator("GET", base)).json;
      return pods.every(({ reachable }: { reachable: boolean | null }) => reachable === true);
    },
    "all pods can be reached",
    () => {},
    60_000,
  );
  await must(`${base}/${course.id}/action`, { action: "stop" });
  const at = Math.ceil(Date.now() / HOUR) * HOUR + 20 * HOUR;
  const session = (title: string, start: number, hours: number, more: object = {}) => ({
    title,
    start_at: new Date(start).toISOString(),
    stop_at: new Date(start + hours * HOUR).toISOString(),
    ...more,
  });
  await must(
    `${base}/${course.id}/sessions`,
    session("Deep learning evening", at, 2, { repeat: { every_weeks: 1, count: 5, time_zone: "America/Phoenix" } }),
  );
  await must(`${base}/${lab.id}/sessions`, session("Thesis runs", at + 29 * HOUR, 10));
  const files = `${base}/${facts.pod_id}/files`;
  await must(`${files}/mkdir`, { path: "/workspace/data" });
  for (const [name, size] of [["notes.md", 30], ["train.py", 220], ["results.csv", 4_000]] as const) {
    await must(`${files}/write`, { path: `/workspace/${name}`, content: "an ordinary line of text\n".repeat(size) });
  }
}

await Deno.mkdir(FOLDER, { recursive: true });
await withDemo(async (demo) => {
  await furnish(demo);
  for (const { name, title, columns, rows, show } of PICTURES) {
    await inAdmin(demo, { columns, rows, env: ENV }, async (terminal) => {
      await terminal.until(/^> /m);
      await show(terminal);
      // Colours come last.
      await eventually(
        async () => (await terminal.coloured()).includes("\x1b["),
        "the screen has colours",
        () => {},
        10_000,
      );
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await Deno.writeTextFile(
        new URL(`${name}.svg`, FOLDER),
        svgOf(styledLines(await terminal.coloured()), columns, title),
      );
      await terminal.keys("C-c");
    });
    console.log(`docs/screens/${name}.svg`);
  }
});
