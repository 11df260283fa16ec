import type { Ui } from "../../core/screen.ts";
import { type Entry, entryKey, entryName, entryText } from "../../data/files.ts";
import { type Span, span } from "../../text/line.ts";
import { localTime, size } from "../../text/units.ts";
import type { TableSpec } from "../../widgets/table.ts";

/** What an entry is, in a word. */
export function kindText(entry: Entry): string {
  return entry.kind ?? (entry.type === "directory" ? "folder" : "file");
}

/** Marks behind names, as `ls -F` has them: the kind is told without a colour and without another column. */
function markOf(entry: Entry): string {
  if (entry.link) return entry.type === "directory" ? "@/" : "@";
  if (entry.type === "directory") return "/";
  return entry.kind === "fifo" ? "|" : entry.kind === "socket" ? "=" : entry.kind === undefined ? "" : "%";
}

function nameSpan(entry: Entry): Span {
  const text = `${entryText(entry)}${markOf(entry)}`;
  return entry.type === "directory" ? span(text, "accent") : span(text);
}

/** The entries of a folder as a table; without an order they stay as the server has them: folders first, then by name. */
export function entriesTable(ui: Pick<Ui, "zone" | "now">): TableSpec<Entry> {
  return {
    columns: [
      {
        id: "name",
        title: "NAME",
        width: 24,
        grow: 1,
        priority: 0,
        cell: nameSpan,
        sortBy: (entry) => entryText(entry),
      },
      {
        id: "size",
        title: "SIZE",
        width: 8,
        priority: 1,
        align: "right",
        cell: (entry) => entry.type === "directory" ? "" : size(entry.size),
        sortBy: (entry) => entry.type === "directory" ? null : entry.size,
      },
      {
        id: "modified",
        title: "CHANGED",
        width: 17,
        priority: 2,
        cell: (entry) => localTime(entry.modified * 1_000, ui.zone, ui.now),
        sortBy: (entry) => entry.modified,
      },
      {
        id: "permissions",
        title: "MODE",
        width: 4,
        priority: 3,
        cell: (entry) => entry.permissions,
        sortBy: (entry) => entry.permissions,
      },
      { id: "kind", title: "KIND", width: 8, priority: 4, cell: kindText, sortBy: kindText },
      { id: "owner", title: "OWNER", width: 11, priority: 5, cell: (entry) => `${entry.uid}:${entry.gid}` },
    ],
    keyOf: (entry) => entryKey(entryName(entry)),
    textOf: entryText,
  };
}
