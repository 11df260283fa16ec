/** New folder, rename and move, delete: the forms and questions, and the calls. */
import { z } from "zod";
import { AppError } from "../../../../server/errors.ts";
import { renameSchema } from "../../../../server/files/schemas.ts";
import { read } from "../../../client/api.ts";
import { base64url, bytesOf, inFolder, pathFields, shownPath, textOf } from "../../../commands/pod_path.ts";
import { isOpen } from "../../core/is_open.ts";
import type { At, Ui } from "../../core/screen.ts";
import {
  countInside,
  type Entry,
  entryName,
  entryPath,
  entryText,
  type Inside,
  insideText,
  type PodRef,
} from "../../data/files.ts";
import { localTime, size } from "../../text/units.ts";
import { confirmScreen } from "../../widgets/confirm.ts";
import { formScreen } from "../../widgets/form/screen.ts";
import { kindText } from "./entries_table.ts";

/** Asks for the name of a new folder; `onDone` gets its bytes. */
export function askNewFolder(ui: Ui, pod: PodRef, folder: Uint8Array, onDone: (name: Uint8Array) => void): void {
  const nameSchema = z.object({
    name: z.string("name must be given").regex(/^[^/\0]+$/, "name must not have a / in it"),
  });
  ui.open(formScreen, {
    title: `New folder in ${shownPath(folder)}`,
    fields: [{ name: "name", label: "Name", kind: "text" }],
    schema: nameSchema,
    send: "Make it",
    work: (body) => (api, org) => {
      const path = inFolder(folder, bytesOf((body as z.infer<typeof nameSchema>).name, undefined));
      return read(api.org.pods[":id"].files.mkdir.$post({ param: { org, id: pod.id }, json: pathFields(path) }));
    },
    done: (answer, at) => {
      const { path, path_b64 } = (answer as { value: { path: string; path_b64?: string } }).value;
      at.say(`The folder ${path} is made`);
      onDone(bytesOf(path, path_b64).subarray(folder.length + (folder.length === 1 ? 0 : 1)));
    },
  });
}

/** The server's check of a body with paths, of which it throws what it refuses. */
function serverCheck(schema: z.ZodType): z.ZodType {
  return z.unknown().superRefine((body, context) => {
    try {
      for (const { message, path } of schema.safeParse(body).error?.issues ?? []) {
        context.addIssue({ code: "custom", message, path });
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });
}

/** The path that was typed: a whole one, or a name in the folder; null for nothing. */
function newPathOf(folder: Uint8Array, typed: string | undefined): Uint8Array | null {
  if (typed === undefined || typed === "") return null;
  const bytes = bytesOf(typed, undefined);
  return typed.startsWith("/") ? bytes : inFolder(folder, bytes);
}

/** Asks for the new name or the new path of an entry; `onDone` gets the path. */
export function askRename(
  ui: Ui,
  pod: PodRef,
  folder: Uint8Array,
  entry: Entry,
  onDone: (path: Uint8Array) => void,
): void {
  const old = entryPath(folder, entry);
  const fields = pathFields(old);
  const from = "path" in fields ? { old_path: fields.path } : { old_path_b64: fields.path_b64 };
  ui.open(formScreen, {
    title: `Rename or move ${entryText(entry)}`,
    fields: [{
      name: "new_path",
      label: "New path",
      kind: "text",
      // What is no UTF-8 cannot be typed: then the name alone stands there, or nothing.
      initial: textOf(old) ?? textOf(entryName(entry)) ?? "",
      hint: "A whole path moves it; a name alone renames it here.",
    }],
    schema: serverCheck(renameSchema),
    body: ({ new_path }) => {
      const path = newPathOf(folder, new_path as string | undefined);
      if (path === null) return from;
      const text = textOf(path);
      return { ...from, ...(text === null ? { new_path_b64: base64url(path) } : { new_path: text }) };
    },
    send: "Rename or move",
    work: (body) => (api, org) =>
      read(
        api.org.pods[":id"].files.rename.$post({
          param: { org, id: pod.id },
          json: body as z.input<typeof renameSchema>,
        }),
      ),
    done: (answer, at) => {
      const { path, path_b64 } = (answer as { value: { path: string; path_b64?: string } }).value;
      at.say(`${entryText(entry)} is now ${path}`);
      onDone(bytesOf(path, path_b64));
    },
  });
}

/** Asks before an entry is deleted; what is in a folder is counted first, and its name must be typed. */
export async function askDelete<P, S>(ui: At<P, S>, pod: PodRef, folder: Uint8Array, entry: Entry): Promise<void> {
  const path = entryPath(folder, entry);
  const name = entryText(entry);
  const isFolder = entry.type === "directory" && !entry.link;
  const count = (from: Ui) =>
    from.call(
      `Count what is in ${name}`,
      (api, org) => countInside(api, org, pod.id, path, () => ui.clock.now() - from.now > COUNT_MS),
    );
  const inside = isFolder ? await count(ui) : undefined;
  if (inside === null || !isOpen(ui)) return;
  const changed = localTime(entry.modified * 1_000, ui.zone, ui.now);
  const what = entry.link
    ? `${name} is a link: only the link goes, not what it leads to.`
    : inside === undefined
    ? `${name}: ${kindText(entry)}, ${size(entry.size)}, changed ${changed}.`
    : `${name} holds ${insideText(inside)}.`;
  const isFull = inside !== undefined && isFilled(inside);
  ui.open(confirmScreen, {
    title: `Delete ${name}`,
    lines: () => [
      what,
      {
        text: isFull ? "ALL of it is deleted. It cannot be undone." : "It cannot be undone.",
        isWarning: true,
      },
    ],
    yes: "delete it",
    ...(isFull ? { name } : {}),
    onYes: async (at) => {
      if (inside !== undefined && !isFull) {
        // An empty folder goes by one key: what somebody has put into it meanwhile must not go with it.
        const now = await count(at);
        if (now === null) return;
        if (isFilled(now)) return at.say(`${name} is not empty any more, so it is not deleted`, "warn");
      }
      const done = await at.call(
        `Delete ${name}`,
        (api, org) =>
          read(api.org.pods[":id"].files.delete.$post({ param: { org, id: pod.id }, json: pathFields(path) })),
        { deadlineMs: DELETE_MS },
      );
      if (done !== null) at.say(`${name} is deleted`);
    },
  });
}

const isFilled = ({ files, folders, isAll }: Inside) => files > 0 || folders > 0 || !isAll;

/** For counting what is in a folder; what was counted by then is said. */
const COUNT_MS = 8_000;
/** A large folder takes its time. */
const DELETE_MS = 330_000;
