import type { Link } from "../client/session.ts";
import { fit, type Line, line, lineWidth, type Span, span } from "../text/line.ts";
import { clockText, duration } from "../text/units.ts";

export interface HeaderFacts {
  readonly org: string;
  readonly orgName: string | null;
  /** The server's address; null on the server itself. */
  readonly address: string | null;
  readonly isOwnProcess: boolean;
  readonly link: Link;
  readonly now: number;
  readonly zone: string;
}

/** The first line: where one is, how it stands with the server, and the time. The less important parts give way. */
export function headerLine(facts: HeaderFacts, width: number): Line {
  const place = facts.address?.replace(/^https?:\/\//, "") ?? (facts.isOwnProcess ? "no server runs" : "this server");
  const clock = clockText(facts.now, facts.zone);
  const link = linkSpan(facts);
  const lefts: Line[] = [
    line(` orgpods  ${facts.org}${facts.orgName === null ? "" : ` (${facts.orgName})`}  ${place}`),
    line(` orgpods  ${facts.org}  ${place}`),
    line(` orgpods  ${facts.org}`),
    line(` ${facts.org}`),
  ];
  const rights: Line[] = [line(link, `  ${clock} `), line(link, ` ${clock.split(" ")[0]} `), line(link, " ")];
  for (const right of rights) {
    for (const left of lefts) {
      const gap = width - lineWidth(left) - lineWidth(right);
      if (gap >= 1) return inverse(fit([...left, span(" ".repeat(gap)), ...right], width));
    }
  }
  return inverse(fit(line(link), width));
}

function linkSpan({ link, now }: HeaderFacts): Span {
  switch (link.kind) {
    case "connected":
      return span("● connected");
    case "lost":
      return span(`! connection lost ${duration(now - link.since)}`, "strong");
    case "signed_out":
      return span("! signed out", "strong");
  }
}

const inverse = (parts: Line): Line => parts.map((part) => ({ ...part, inverse: true }));
