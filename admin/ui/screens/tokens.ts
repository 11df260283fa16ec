import { read } from "../../client/api.ts";
import { defineScreen, type Ui } from "../core/screen.ts";
import { personText } from "../data/members.ts";
import { type Token, tokensResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { line, span } from "../text/line.ts";
import { ago, localTime } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { factLines } from "../widgets/facts.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { pagerScreen } from "../widgets/pager.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";

const NONE: readonly Token[] = [];
const ownerOf = ({ owner, discord_id }: Token) => owner ?? discord_id;
const kindText = ({ kind }: Token): string => kind === "cli" ? "CLI" : kind === "officer" ? "Officer" : kind;

const specOf = (ui: Ui): TableSpec<Token> => ({
  columns: [
    { id: "owner", title: "OWNER", width: 14, grow: 2, most: 32, priority: 0, cell: ownerOf, sortBy: ownerOf },
    { id: "kind", title: "KIND", width: 7, priority: 0, cell: kindText, sortBy: kindText },
    {
      id: "used",
      title: "LAST USED",
      width: 12,
      priority: 1,
      cell: (one) => one.last_used_at === null ? "never" : ago(one.last_used_at, ui.now),
      sortBy: (one) => one.last_used_at === null ? null : Date.parse(one.last_used_at),
    },
    {
      id: "expires",
      title: "EXPIRES",
      width: 17,
      priority: 2,
      cell: (one) => localTime(one.expires_at, ui.zone, ui.now),
      sortBy: (one) => Date.parse(one.expires_at),
    },
    { id: "display", title: "TOKEN", width: 14, priority: 4, cell: (one) => one.display },
    { id: "name", title: "NAME", width: 12, grow: 1, most: 40, priority: 3, cell: (one) => one.name },
    { id: "id", title: "NO", width: 5, priority: 5, align: "right", cell: (one) => String(one.id) },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) => `${ownerOf(one)} ${one.discord_id} ${kindText(one)} ${one.name} ${one.display}`,
});

const list = listOf<null, ListState, Token>({ spec: specOf, all: (at) => at.read(tokensResource).value ?? NONE });

/** Tokens that work, and taking one back. */
export const tokensScreen = defineScreen<null, ListState>({
  id: "tokens",
  command: { word: "tokens", about: "who has a token, and taking one back", open: () => null },
  title: (at) => `Tokens ${list.count(at)}`,
  about:
    "Tokens that work now. A CLI token is a member's for the godfather command; an officer token is for this admin and " +
    "scripts. People get one by signing in; values are never shown again.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    ...list.actions,
    {
      keys: ["enter"],
      label: "details",
      about: "all that is known of the selected token",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => openDetails(at, list.selected(at)!),
    },
    {
      keys: ["D"],
      word: "revoke",
      label: "revoke",
      about: "take the selected token back; asks first, and says what ends with it",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => confirmRevoke(at, list.selected(at)!),
    },
  ],
  view: (at) =>
    drawReading(
      at.read(tokensResource),
      at.width,
      at.height,
      (_, height) =>
        list.draw(at, at.filter === "" ? "No token works now." : "No token is like that; esc shows all.", { height }),
    ),
});

const madeBy = (ui: Ui, token: Token) =>
  token.created_by === token.discord_id ? ownerOf(token) : personText(ui, token.created_by);

function openDetails(ui: Ui, token: Token): void {
  ui.open(pagerScreen, {
    title: `Token ${token.id}`,
    lines: (width) =>
      factLines([
        ["Owner", ownerOf(token)],
        ["Discord id", token.discord_id],
        ["Kind", kindText(token)],
        ["Name", token.name],
        ["Token", token.display],
        ["Made", `${localTime(token.created_at, ui.zone, ui.now)} by ${madeBy(ui, token)}`],
        ["Last used", token.last_used_at === null ? "never" : localTime(token.last_used_at, ui.zone, ui.now)],
        ["Expires", localTime(token.expires_at, ui.zone, ui.now)],
      ], width).map((one) => [span(" "), ...one]),
  });
}

function confirmRevoke(ui: Ui, token: Token): void {
  const owner = ownerOf(token);
  const isMaybeOwn = token.kind === "officer" && ui.session.address !== null && token.discord_id === ui.me?.discord_id;
  ui.open(confirmScreen, {
    title: `Revoke the token of ${owner}`,
    lines: () => [
      token.kind === "cli"
        ? `The godfather command of ${owner} stops working until they sign in again. What they got with this token ends ` +
          "at once, too: certificates, connections to pods and what they run there."
        : `What uses this officer token stops working. ${owner} stays an officer and can sign in for a new one.`,
      ...(isMaybeOwn ? [{ text: "If it is the one you use here, you are signed out.", isWarning: true } as const] : []),
    ],
    yes: "revoke it",
    onYes: (at) => revoke(at, token),
  });
}

/** Revokes, and tells what became of the access that was got with the token: the officer may have to do the rest. */
async function revoke(ui: Ui, token: Token): Promise<void> {
  const done = await ui.call(
    `Revoke the token of ${ownerOf(token)}`,
    async (api, org) =>
      (await read(api.org.tokens[":token"].$delete({ param: { org, token: String(token.id) } }))).value,
  );
  if (done === null) return;
  const { removals } = done;
  ui.say(`The token of ${ownerOf(token)} is revoked`);
  if (removals.length === 0) return;
  ui.open(pagerScreen, {
    title: "What ended with the token",
    lines: (width) =>
      removals.flatMap(({ state, certificates, report, left, todo }) => [
        line(state === "done" ? "done" : span("! not done yet", "warn"), `, ${certificates} certificates taken back`),
        ...[report, left, todo].filter((text) => text !== null && text !== "").flatMap((text) =>
          wrap(text!, width - 2).map((part) => line(`  ${part}`))
        ),
      ]),
  });
}
