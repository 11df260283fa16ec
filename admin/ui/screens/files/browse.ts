import type { Action, At } from "../../core/screen.ts";
import { defineScreen } from "../../core/screen.ts";
import type { Reading } from "../../core/cache.ts";
import {
  type Entry,
  entryKey,
  entryName,
  entryPath,
  fewerThan,
  FIRST_ENTRIES,
  type Listing,
  listResource,
  moreThan,
  nameOf,
  parentOf,
  type PodRef,
  WORKSPACE,
} from "../../data/files.ts";
import { statusWord } from "../../data/pod_words.ts";
import { type Pod, podsResource } from "../../data/pods.ts";
import { bytesOf, lastName, shownPath } from "../../../commands/pod_path.ts";
import { cut, widthOf, wrap } from "../../text/cells.ts";
import { BLANK, type Line, line, span } from "../../text/line.ts";
import { drawReading } from "../../widgets/reading.ts";
import { arrange, drawTable, emptyLine, NEW_TABLE, selectedRow, type TableState } from "../../widgets/table.ts";
import { tableActions } from "../../widgets/table_actions.ts";
import { startPod } from "../pod_actions.ts";
import { askDelete, askNewFolder, askRename } from "./changing.ts";
import { editFile } from "./edit.ts";
import { entriesTable } from "./entries_table.ts";
import { askArchive, askDownload, askUpload } from "./moving.ts";
import { transfersScreen } from "./transfers.ts";
import { openFile } from "./view.ts";

interface FilesParams {
  readonly pod: PodRef;
  readonly path: Uint8Array;
  /** It was opened from the list of the folder that it lies in, which is the screen below. */
  readonly isBelow: boolean;
  /** The entry that is selected at first. */
  readonly selected: string | null;
}

interface State {
  readonly table: TableState;
  /** Entries to load; more when one comes near the end of them. */
  readonly wanted: number;
}

type FilesAt = At<FilesParams, State>;

const NONE: readonly Entry[] = [];
/** So many rows before the end of what is loaded, more is. */
const NEAR = 100;

const podOf = (at: FilesAt): Pod | undefined =>
  at.read(podsResource).value?.pods.find(({ id }) => id === at.params.pod.id);

/** A filter and an order are about all entries, so at least as many are loaded as the server gives at once. */
const wantedNow = ({ state, filter }: FilesAt) =>
  filter === "" && state.table.sort === null ? state.wanted : Math.max(state.wanted, moreThan(FIRST_ENTRIES));

/** The listing as far as it is there; while more is loaded, what was loaded before. */
function readingOf(at: FilesAt): Reading<Listing> {
  const { pod, path } = at.params;
  const since = podOf(at)?.up_since ?? null;
  const wanted = wantedNow(at);
  const reading = at.read(listResource(pod.id, path, wanted, since));
  if (reading.value !== undefined || wanted === FIRST_ENTRIES) return reading;
  const { value, at: loadedAt } = at.read(listResource(pod.id, path, fewerThan(wanted), since));
  return value === undefined ? reading : { ...reading, value, at: loadedAt };
}

const rowsOf = (at: FilesAt) =>
  arrange(entriesTable(at), at.state.table, readingOf(at).value?.entries ?? NONE, at.filter);
const selected = (at: FilesAt) => selectedRow(entriesTable(at), at.state.table, rowsOf(at));
/** One that RunPod has deleted cannot, and its files are gone. */
const canBeStarted = (pod: Pod | undefined) => pod !== undefined && pod.status !== "GONE";
const isStopped = (at: FilesAt) => readingOf(at).problem?.code === "pod_not_running";
const isFolder = (entry: Entry | undefined) => entry?.type === "directory";
/** Pipes, sockets and devices have no content to show or to fetch. */
const isFile = (entry: Entry | undefined) =>
  entry?.type === "file" && (entry.kind === undefined || entry.kind === "link");
const select = (at: FilesAt, name: Uint8Array) =>
  at.set((state) => ({ ...state, table: { ...state.table, selected: entryKey(name) } }));
const pathAt = (at: FilesAt, entry: Entry) => entryPath(at.params.path, entry);

/** The files of a pod, one folder at a time; each folder is a screen of its own, so that `back` goes the way one came. */
export const filesScreen = defineScreen<FilesParams, State>({
  id: "files",
  title: ({ params }) => params.isBelow ? nameOf(params.path) : `Files ${shownPath(params.path)}`,
  about:
    "Files of a running pod. / marks a folder, @ a link, | a pipe, = a socket, % a device. Deleting asks first and says what is " +
    "inside. Uploads and downloads go on in the background: t shows them.",
  init: ({ selected }) => ({ table: { ...NEW_TABLE, selected }, wanted: FIRST_ENTRIES }),
  hasFilter: true,
  actions: [
    {
      keys: ["s"],
      word: "start",
      label: "start",
      about: "start the pod; it costs money from then on",
      when: (at) => isStopped(at) && canBeStarted(podOf(at)),
      run: (at) => startPod(at, podOf(at)!),
    },
    {
      keys: ["enter", "right", "l"],
      label: "open",
      about: "open the folder, or show the file",
      when: (at) => isFolder(selected(at)) || isFile(selected(at)),
      run: (at) => open(at, selected(at)!),
    },
    {
      keys: ["backspace", "left", "h"],
      shown: "←",
      word: "up",
      label: "up",
      about: "to the folder that this one lies in",
      when: ({ params }) => parentOf(params.path) !== null,
      run: up,
    },
    ...tableActions<FilesParams, State, Entry>({
      spec: entriesTable,
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: (at) => at.height - 1,
    }).map((action) => ({
      ...action,
      run: (at: FilesAt, key: string) => {
        action.run(at, key);
        loadNear(at);
      },
    })),
    {
      keys: ["e"],
      word: "edit",
      label: "edit",
      about: "edit the file in your editor (VISUAL or EDITOR)",
      when: (at) => isFile(selected(at)),
      run: (at) => {
        const path = pathAt(at, selected(at)!);
        const { pod } = at.params;
        return editFile(at, { pod, path, onReadOnly: (text) => void openFile(at, pod, path, text) });
      },
    },
    {
      keys: ["d"],
      word: "download",
      label: "download",
      about: "download the file to this computer",
      when: (at) => isFile(selected(at)),
      run: (at) => askDownload(at, at.params.pod, pathAt(at, selected(at)!)),
    },
    {
      keys: ["a", "d"],
      word: "archive",
      label: "archive",
      about: "download the folder to this computer as tar.gz",
      when: (at) => isFolder(selected(at)),
      run: (at) => askArchive(at, at.params.pod, pathAt(at, selected(at)!)),
    },
    {
      keys: ["u"],
      word: "upload",
      label: "upload",
      about: "send a file of this computer into this folder",
      when: isListed,
      run: (at) => askUpload(at, at.params.pod, at.params.path),
    },
    {
      keys: ["n"],
      word: "mkdir",
      label: "new folder",
      when: isListed,
      run: (at) => askNewFolder(at, at.params.pod, at.params.path, (name) => select(at, name)),
    },
    {
      keys: ["r"],
      word: "rename",
      label: "rename",
      about: "give it another name, or move it by another path",
      when: (at) => selected(at) !== undefined,
      run: (at) =>
        askRename(at, at.params.pod, at.params.path, selected(at)!, (path) => select(at, lastName(path) ?? path)),
    },
    {
      keys: ["D"],
      word: "delete",
      label: "delete",
      about: "delete it for good; what is in a folder is counted first, and its name must be typed",
      when: (at) => selected(at) !== undefined,
      run: (at) => askDelete(at, at.params.pod, at.params.path, selected(at)!),
    },
    {
      word: "cd",
      takes: "<path>",
      label: "go to",
      about: "go to a folder by its path",
      run: (at, input) => goTo(at, input),
    },
    {
      keys: ["m"],
      word: "more",
      label: "more",
      about: "load more of a long folder",
      when: (at) => readingOf(at).value?.isWhole === false,
      run: (at) => at.set({ wanted: moreThan(wantedNow(at)) }),
    },
    {
      keys: ["t"],
      label: "transfers",
      about: "uploads and downloads, with cancel",
      when: (at) => at.transfers.list().length > 0,
      run: (at) => at.open(transfersScreen, null),
    },
  ],
  view: (at) => {
    const reading = readingOf(at);
    const head = placeLine(at, reading.value);
    const rest = drawReading(reading, at.width, at.height - 1, (_, height) => listLines(at, height));
    return [head, ...rest, ...(isStopped(at) && reading.value === undefined ? stoppedLines(at) : [])];
  },
});

/** Files of a pod, for the screens that have one at hand. */
export function filesAction<P, S>(podAt: (at: At<P, S>) => Pod | undefined): Action<P, S> {
  return {
    keys: ["f"],
    word: "files",
    label: "files",
    about: "browse, edit, send and fetch the files of the pod",
    when: (at) => podAt(at) !== undefined,
    run: (at) => {
      const pod = podAt(at);
      if (pod !== undefined) openFolder(at, { id: pod.id, name: pod.name }, WORKSPACE);
    },
  };
}

function openFolder(
  at: Pick<FilesAt, "open">,
  pod: PodRef,
  path: Uint8Array,
  { isBelow = false, selected = null }: Partial<Pick<FilesParams, "isBelow" | "selected">> = {},
): void {
  at.open(filesScreen, { pod, path, isBelow, selected });
}

function open(at: FilesAt, entry: Entry): Promise<void> | void {
  const { pod } = at.params;
  const path = pathAt(at, entry);
  // It stays selected when the filter that found it goes.
  select(at, entryName(entry));
  if (isFolder(entry)) return openFolder(at, pod, path, { isBelow: true });
  return openFile(at, pod, path);
}

/** Back to the list that it was opened from; else the folder above takes this one's place. */
function up(at: FilesAt): void {
  const { pod, path, isBelow } = at.params;
  const parent = parentOf(path);
  if (parent === null) return;
  at.close();
  if (!isBelow) openFolder(at, pod, parent, { selected: entryKey(lastName(path)!) });
}

function goTo(at: FilesAt, typed: string): void {
  const path = typed.replace(/(?<=.)\/+$/, "");
  if (!path.startsWith("/")) return at.say("The path must be an absolute one, such as /workspace", "bad");
  openFolder(at, at.params.pod, bytesOf(path, undefined));
}

/** Loads more when the selection has come near the end of what is loaded. */
function loadNear(at: FilesAt): void {
  const listing = readingOf(at).value;
  if (listing === undefined || listing.isWhole) return;
  const loaded = listing.entries.length;
  at.set((state) => state.table.index < loaded - NEAR ? state : { ...state, wanted: moreThan(loaded) });
}

function isListed(at: FilesAt): boolean {
  return readingOf(at).value !== undefined;
}

/** Where one is, and how many entries there are. */
function placeLine(at: FilesAt, listing: Listing | undefined): Line {
  const count = countText(at, listing);
  const room = at.width - widthOf(count) - 4;
  return line(" ", span(cut(shownPath(at.params.path), room, "middle"), "strong"), span(`  ${count}`, "dim"));
}

function countText(at: FilesAt, listing: Listing | undefined): string {
  if (listing === undefined) return "";
  const number = (value: number) => value.toLocaleString("en");
  const { entries, total, isWhole } = listing;
  const all = `${number(total)} ${total === 1 ? "entry" : "entries"}`;
  const found = at.filter === "" ? "" : `${number(rowsOf(at).length)} fit, of `;
  return isWhole ? `${found}${all}` : `${found}${number(entries.length)} loaded, of ${all}`;
}

function listLines(at: FilesAt, height: number): Line[] {
  const rows = rowsOf(at);
  if (rows.length > 0) return drawTable(entriesTable(at), at.state.table, rows, at.width, height);
  return [emptyLine(at.filter === "" ? "The folder is empty." : "Nothing fits the filter; esc shows all.")];
}

function stoppedLines(at: FilesAt): Line[] {
  const pod = podOf(at);
  if (pod === undefined) return [];
  const state = `${pod.name}: ${statusWord(pod.status)}.`;
  const text = canBeStarted(pod)
    ? `${state} Files can be reached while the pod runs. Press s to start it; it costs money from then on.`
    : `${state} Its files are gone with it.`;
  return [BLANK, ...wrap(text, Math.max(10, at.width - 4)).map((one) => line(`  ${one}`))];
}
