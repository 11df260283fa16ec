/** The text of a file as it is read from a pod, saved there, and shown in lines. */
import { type Api, read } from "../../../client/api.ts";
import { Refusal } from "../../../client/refusal.ts";
import { pathFields } from "../../../commands/pod_path.ts";
import { wrap } from "../../text/cells.ts";
import { type Line, line } from "../../text/line.ts";

export interface FileText {
  readonly content: string;
  /** For saving it; null for bytes that are no UTF-8, which must not be saved. */
  readonly etag: string | null;
}

/** Reads a text; with bytes that are no UTF-8 replaced, and then without an ETag. Throws `Refusal`. */
export async function readText(api: Api, org: string, id: string, path: Uint8Array): Promise<FileText> {
  const ask = async (lossy: boolean) => {
    const json = { ...pathFields(path), ...(lossy ? { lossy } : {}) };
    return (await read(api.org.pods[":id"].files.read.$post({ param: { org, id }, json }))).value;
  };
  const text = await ask(false).catch((error) => {
    if (error instanceof Refusal && error.code === "not_text") return ask(true);
    throw error;
  });
  return { content: text.content, etag: text.etag ?? null };
}

/** Saves a text over what has the ETag, or over whatever is there without one; gives the new ETag. Throws `Refusal`. */
export async function writeText(
  api: Api,
  org: string,
  id: string,
  path: Uint8Array,
  { content, ifMatch }: { readonly content: string; readonly ifMatch: string | null },
): Promise<string> {
  const json = { ...pathFields(path), content, ...(ifMatch === null ? {} : { if_match: ifMatch }) };
  return (await read(api.org.pods[":id"].files.write.$post({ param: { org, id }, json }))).value.etag;
}

/** Longer lines are wrapped in pieces of so many characters, each for itself. */
const PIECE = 1_000;

/** A text in lines for a width; the last width is kept, because a screen asks for every frame. */
export function textLines(content: string): (width: number) => readonly Line[] {
  const rows = content.replace(/\r?\n$/, "").split(/\r?\n/);
  let kept: { readonly width: number; readonly lines: readonly Line[] } | undefined;
  return (width) => {
    if (kept?.width !== width) kept = { width, lines: rows.flatMap((row) => rowLines(row, width)) };
    return kept.lines;
  };
}

function rowLines(row: string, width: number): Line[] {
  const text = row.replaceAll("\t", "    ");
  const lines: Line[] = [];
  let from = 0;
  do {
    // A character of two units stays whole.
    const end = from + PIECE - (/[\ud800-\udbff]/.test(text[from + PIECE - 1] ?? "") ? 1 : 0);
    for (const part of wrap(text.slice(from, end), width)) lines.push(line(part));
    from = end;
  } while (from < text.length);
  return lines;
}
