import { AppError } from "../../server/errors.ts";
import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { bytesOf, lastName, pathFields, podPath, shownPath } from "./pod_path.ts";
import { size } from "./progress.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime } from "./text.ts";

/** Flags that all file commands take. */
export interface FileFlags {
  /** Paths on the pod are base64url of their bytes. */
  readonly b64?: boolean;
}

/** A pod of an org, as the file routes take it. */
export interface PodFiles {
  readonly api: Api;
  readonly param: { readonly org: string; readonly id: string };
}

/** Calls the file routes of one pod. */
export async function withPod(shell: Shell, id: string, work: (pod: PodFiles) => Promise<void>): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, (api, org) => work({ api, param: { org, id } }));
}

export type FileState = Awaited<ReturnType<typeof stateOf>>["value"];

/** What stands at a path; a link itself. Throws `Refusal`. */
export function stateOf({ api, param }: PodFiles, path: Uint8Array) {
  return read(api.org.pods[":id"].files.stat.$post({ param, json: pathFields(path) }));
}

export const timeOf = (seconds: number): string => shortTime(new Date(seconds * 1_000).toISOString())!;

/** `orgpods file stat` */
export async function statFile(shell: Shell, id: string, word: string, flags: FileFlags): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  await withPod(shell, id, async (pod) => {
    await shell.result(await stateOf(pod, path), (state) =>
      facts([
        ["Path", shownPath(path)],
        ["Type", typeOf(state)],
        ["Size", `${size(state.size)} (${state.size} bytes)`],
        ["Modified", timeOf(state.modified)],
        ["Permissions", state.permissions],
        ["Owner", `${state.uid}:${state.gid}`],
        ...(state.target === undefined
          ? []
          : [["Leads to", shownPath(bytesOf(state.target, state.target_b64))] as const]),
        ...(state.etag === undefined ? [] : [["ETag", state.etag] as const]),
      ]));
  });
}

/** What an entry is, in a word. */
export function typeOf({ type, kind }: { readonly type: string; readonly kind?: string | undefined }): string {
  return kind ?? type;
}

/** `orgpods file mkdir` */
export async function makeFolder(shell: Shell, id: string, word: string, flags: FileFlags): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  await withPod(shell, id, async ({ api, param }) => {
    const answer = await read(api.org.pods[":id"].files.mkdir.$post({ param, json: pathFields(path) }));
    await shell.result(answer, () => shownPath(path));
  });
}

/** `orgpods file mv` */
export async function moveFile(shell: Shell, id: string, from: string, to: string, flags: FileFlags): Promise<void> {
  const isBase64 = flags.b64 === true;
  const [before, after] = [podPath(from, isBase64, "The old path"), podPath(to, isBase64, "The new path")];
  const named = <Name extends "old_path" | "new_path">(name: Name, path: Uint8Array) => {
    const fields = pathFields(path);
    return "path" in fields ? { [name]: fields.path } : { [`${name}_b64`]: fields.path_b64 };
  };
  await withPod(shell, id, async ({ api, param }) => {
    const json = { ...named("old_path", before), ...named("new_path", after) };
    const answer = await read(api.org.pods[":id"].files.rename.$post({ param, json }));
    await shell.result(answer, () => shownPath(after));
  });
}

/** `orgpods file rm`: the name of a folder must be typed, because everything in it goes; scripts say `--yes`. */
export async function removeFile(
  shell: Shell,
  id: string,
  word: string,
  flags: FileFlags & { readonly recursive?: boolean; readonly yes?: boolean },
): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  await withPod(shell, id, async (pod) => {
    const { value } = await stateOf(pod, path);
    if (value.type === "directory" && !value.link) await confirmFolder(shell, path, flags);
    const answer = await read(pod.api.org.pods[":id"].files.delete.$post({ param: pod.param, json: pathFields(path) }));
    await shell.result(answer, () => shownPath(path));
  });
}

async function confirmFolder(
  shell: Shell,
  path: Uint8Array,
  { recursive, yes }: { readonly recursive?: boolean; readonly yes?: boolean },
): Promise<void> {
  const name = shownPath(lastName(path) ?? path);
  if (!recursive) {
    throw new AppError("usage", `${shownPath(path)} is a folder`, { hint: "Delete it with everything in it with -r" });
  }
  if (yes) return;
  if (!shell.stdio.isTerminal) {
    throw new AppError("usage", "This deletes a folder with everything in it: confirm with --yes");
  }
  await shell.stdio.err(`This deletes ${shownPath(path)} with everything in it.\nType its name to go on [${name}]: `);
  if ((await shell.stdio.readLine())?.trim() !== name.trim()) {
    throw new AppError("usage", "That is not the folder's name; nothing was deleted");
  }
}
