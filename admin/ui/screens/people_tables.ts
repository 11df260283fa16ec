/** The two lists of the people of a pod: who is on it now, and the certificates given for it. */
import type { Ui } from "../core/screen.ts";
import type { Certificate } from "../data/members.ts";
import type { OnNow } from "../data/on_now.ts";
import { span } from "../text/line.ts";
import { duration, localTime, shortDuration } from "../text/units.ts";
import type { Column, TableSpec } from "../widgets/table.ts";

const rootColumn = <R>(isRoot: (row: R) => boolean): Column<R> => ({
  id: "root",
  title: "",
  width: 4,
  priority: 2,
  cell: (row) => isRoot(row) ? span("Root", "warn") : "",
});

export const connectedSpec = (now: number): TableSpec<OnNow> => ({
  columns: [
    {
      id: "name",
      title: "NAME",
      width: 12,
      grow: 2,
      most: 40,
      priority: 0,
      cell: ({ name, discordId }) => name ?? discordId ?? span("not known", "dim"),
      sortBy: ({ name }) => name,
    },
    rootColumn(({ isRoot }) => isRoot),
    {
      id: "since",
      title: "SINCE",
      width: 10,
      priority: 1,
      cell: ({ since }) => duration(now - since),
      sortBy: ({ since }) => since,
    },
    {
      id: "tunnel",
      title: "",
      width: 8,
      priority: 2,
      cell: ({ isTunnel }) => isTunnel ? span("no shell", "dim") : "",
    },
    { id: "folder", title: "FOLDER", width: 12, grow: 1, most: 32, priority: 3, cell: ({ username }) => username },
    { id: "id", title: "DISCORD ID", width: 20, priority: 4, cell: ({ discordId }) => discordId ?? "" },
  ],
  keyOf: ({ key }) => key,
  textOf: ({ name, username, discordId }) => `${name ?? ""} ${username} ${discordId ?? ""}`,
});

export const recentSpec = ({ now, zone }: Pick<Ui, "now" | "zone">): TableSpec<Certificate> => ({
  columns: [
    {
      id: "name",
      title: "NAME",
      width: 12,
      grow: 2,
      most: 40,
      priority: 0,
      cell: ({ name, discord_id }) => name ?? discord_id,
      sortBy: ({ name, discord_id }) => name ?? discord_id,
    },
    rootColumn(({ is_admin }) => is_admin),
    {
      id: "until",
      title: "VALID UNTIL",
      width: 15,
      priority: 1,
      cell: ({ valid_before, revoked_at }) => {
        if (revoked_at !== null) return span("taken back", "dim");
        const time = localTime(valid_before, zone, now);
        return Date.parse(valid_before) <= now ? span(time, "dim") : span(time, "good");
      },
      sortBy: ({ valid_before }) => Date.parse(valid_before),
    },
    { id: "serial", title: "SERIAL", width: 19, priority: 3, cell: ({ serial }) => serial },
    { id: "folder", title: "FOLDER", width: 10, grow: 1, most: 32, priority: 4, cell: ({ username }) => username },
    {
      id: "given",
      title: "GIVEN",
      width: 7,
      priority: 5,
      cell: ({ created_at }) => `${shortDuration(now - Date.parse(created_at))} ago`,
      sortBy: ({ created_at }) => Date.parse(created_at),
    },
  ],
  keyOf: ({ serial }) => serial,
  textOf: ({ name, username, discord_id, serial }) => `${name ?? ""} ${username} ${discord_id} ${serial}`,
});
