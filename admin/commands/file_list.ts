import { type Answer, read } from "../client/api.ts";
import { type FileFlags, type PodFiles, timeOf, typeOf, withPod } from "./file.ts";
import { base64url, bytesOf, inFolder, pathFields, podPath, shownPath, textOf } from "./pod_path.ts";
import type { Shell } from "./shell.ts";

const DEFAULT_FOLDER = "/workspace";

type Page = Awaited<ReturnType<typeof pageOf>>["value"];
type Entry = Page["files"][number];

function pageOf({ api, param }: PodFiles, path: Uint8Array, cursor: string | null) {
  const query = { ...pathFields(path), ...(cursor === null ? {} : { cursor }) };
  return read(api.org.pods[":id"].files.$get({ param, query }));
}

/** `orgpods file ls`: every page of a folder, in one list. */
export async function listFiles(
  shell: Shell,
  id: string,
  word: string | undefined,
  flags: FileFlags,
): Promise<void> {
  const path = podPath(word ?? DEFAULT_FOLDER, word !== undefined && flags.b64 === true);
  await withPod(shell, id, async (pod) => {
    const answer = await wholeList(pod, path);
    const { files } = answer.value;
    if (files.length === 0) await shell.say("The folder is empty.");
    await shell.result(answer, () => files.length === 0 ? "" : longList(path, files));
    const odd = files.filter((file) => file.name_b64 !== undefined).length;
    if (odd > 0 && !shell.options.json) {
      await shell.say(`${odd} name(s) are not UTF-8: use --b64 with the path in brackets.`);
    }
  });
}

/** The pages in one. A folder that changes meanwhile may miss what came in, but names nothing twice. */
async function wholeList(pod: PodFiles, path: Uint8Array): Promise<Answer<Page>> {
  const first = await pageOf(pod, path, null);
  if (first.value.cursor === null) return first;
  const files = [...first.value.files];
  for (let cursor: string | null = first.value.cursor; cursor !== null;) {
    const { value }: Answer<Page> = await pageOf(pod, path, cursor);
    files.push(...value.files);
    cursor = value.cursor;
  }
  const value: Page = { ...first.value, files, cursor: null, total: files.length };
  return { value, text: JSON.stringify(value) };
}

/** `-rw-r--r--  0:0  4096  2026-09-01 12:00:00Z  name`, in columns. */
export function longList(folder: Uint8Array, files: readonly Entry[]): string {
  const rows = files.map((file) => [
    modeOf(file),
    `${file.uid}:${file.gid}`,
    String(file.size),
    timeOf(file.modified),
    nameOf(folder, file),
  ]);
  const widthOf = (column: number) => rows.reduce((width, row) => Math.max(width, row[column]!.length), 0);
  const [owners, sizes] = [widthOf(1), widthOf(2)];
  return rows.map(([mode, owner, size, time, name]) =>
    `${mode}  ${owner!.padEnd(owners)}  ${size!.padStart(sizes)}  ${time}  ${name}`
  ).join("\n");
}

const TYPE_LETTERS: Readonly<Record<string, string>> = {
  directory: "d",
  file: "-",
  link: "l",
  fifo: "p",
  socket: "s",
  device: "c",
};

/** As `ls -l` has it, with `?` for a type that is not known. */
function modeOf(file: Entry): string {
  const letters = [...file.permissions].map((digit) => {
    const bits = Number(digit);
    return `${bits & 4 ? "r" : "-"}${bits & 2 ? "w" : "-"}${bits & 1 ? "x" : "-"}`;
  });
  return `${TYPE_LETTERS[typeOf(file)] ?? "?"}${letters.join("")}`;
}

function nameOf(folder: Uint8Array, { name, name_b64, type }: Entry): string {
  const bytes = bytesOf(name, name_b64);
  const mark = type === "directory" ? "/" : "";
  const address = textOf(bytes) === null ? `  [${base64url(inFolder(folder, bytes))}]` : "";
  return `${shownPath(bytes)}${mark}${address}`;
}
