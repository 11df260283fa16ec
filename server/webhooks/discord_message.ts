import type { Notice } from "../events/notice.ts";

const GREEN = 0x30a46c;
const AMBER = 0xf5a524;

/** The most characters of a name that are shown, and of any other value; Discord takes 256 and 1024 with escapes. */
const MAX_NAME = 100;
const MAX_VALUE = 400;
/** Discord takes 25 fields and 6000 characters in an embed. */
const MAX_FIELDS = 12;
const MAX_FIELD_CHARACTERS = 5_000;

/**
 * The body of a Discord webhook call (contract 14): one embed, green for what began and amber for the rest, and no
 * mention of anybody whatever the names say.
 */
export function discordBody(notice: Notice, orgName: string): Record<string, unknown> {
  const fields = [
    { name: "Pod", value: harmless(notice.pod_id ?? "", MAX_NAME), inline: true },
    { name: "By", value: harmless(notice.actor ?? "", MAX_NAME), inline: true },
    ...detailFields(notice.details),
  ].filter((field) => field.value !== "");
  return {
    username: "orgpods",
    allowed_mentions: { parse: [] },
    embeds: [{
      title: titleOf(notice),
      color: notice.kind === "pod.created" || notice.kind === "pod.started" ? GREEN : AMBER,
      fields: thatFit(fields),
      footer: { text: harmless(orgName, MAX_NAME) },
      timestamp: notice.created_at,
    }],
  };
}

function titleOf({ kind, subject, details }: Notice): string {
  const pod = `Pod ${harmless(subject ?? "", MAX_NAME)}`;
  const did = (known: string) => typeof details.did === "string" ? harmless(details.did, MAX_NAME) : known;
  switch (kind) {
    case "pod.created":
      return `${pod} created`;
    case "pod.started":
      return `${pod} ${did("started")}`;
    case "pod.stopped":
      return `${pod} ${did("stopped")}`;
    case "pod.failed":
      return `${pod} ${details.did === "gone" ? "is gone" : "failed"}`;
    case "pod.forgotten":
      return `${pod} runs outside every session`;
    case "session.missed":
      return `${pod}: a session was missed`;
    case "session.failed":
      return `${pod}: a session ${details.tried_again === true ? "is in trouble, and tried again" : "failed"}`;
    case "budget.warning":
      return "The monthly budget is nearly used up";
    case "budget.reached":
      return "The monthly budget is used up";
    case "balance.low":
      return "The balance of the RunPod account is low";
    case "settings.changed":
      return "Settings were changed";
    case "access.ended":
      return `${pod}: somebody's access has ended`;
    case "server.paused":
      return "The server has paused its schedule";
    case "test":
      return "Test of a webhook";
    default:
      return harmless(kind, MAX_NAME);
  }
}

/** Whatever else an event says, one field each; what the title says already is left out. */
function detailFields(details: Notice["details"]): { name: string; value: string; inline: boolean }[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const text = textOf(value);
    if (key === "did" || text === null) return [];
    const name = key.replaceAll("_", " ");
    return [{
      name: harmless(name.charAt(0).toUpperCase() + name.slice(1), MAX_NAME),
      value: harmless(text, MAX_VALUE),
      inline: text.length < 40,
    }];
  });
}

function thatFit<F extends { readonly name: string; readonly value: string }>(fields: readonly F[]): F[] {
  let room = MAX_FIELD_CHARACTERS;
  return fields.slice(0, MAX_FIELDS).filter((field) => (room -= field.name.length + field.value.length) >= 0);
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === "") return null;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(Math.round(value * 100) / 100);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? "").filter(Boolean).join(", ") || null;
  return JSON.stringify(value);
}

/**
 * Text of others for a Discord embed: one line without invisible and direction characters, cut, and with every sign that
 * Discord reads as Markdown, a mention, an emoji or a link escaped by a backslash.
 */
export function harmless(text: string, max: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\s]+/gu, " ").trim();
  const points = Array.from(line);
  const cut = points.length > max ? `${points.slice(0, max - 1).join("")}…` : line;
  // At the start of a line some signs make a heading, a quote or a list.
  return cut.replace(/[\\*_~`|<@[\]]|^[#>+-]|:(?=\/\/)/g, "\\$&");
}
