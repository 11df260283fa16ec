/** A captured screen of a terminal, as pieces of text with their styles. */

export interface Style {
  /** The number of one of the eight colours, 1 red to 6 cyan; null for the terminal's own. */
  readonly colour: number | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverse: boolean;
}

export interface Piece extends Style {
  readonly text: string;
}

const PLAIN: Style = { colour: null, isBold: false, isDim: false, isInverse: false };

/** The lines of what `tmux capture-pane -e` gives. A style lasts over the ends of lines until another one comes. */
export function styledLines(captured: string): Piece[][] {
  let style = PLAIN;
  return captured.replace(/\n$/, "").split("\n").map((line) => {
    const pieces: Piece[] = [];
    // deno-lint-ignore no-control-regex
    for (const part of line.split(/(\x1b\[[0-9;]*m)/)) {
      // deno-lint-ignore no-control-regex
      const codes = /^\x1b\[([0-9;]*)m$/.exec(part)?.[1];
      if (codes !== undefined) style = codes.split(";").map(Number).reduce(styleAfter, style);
      // What else a terminal is told, such as the character set, is no text.
      // deno-lint-ignore no-control-regex
      else if (part !== "") pieces.push({ ...style, text: part.replace(/\x1b[()][0-9A-B]|[\x0e\x0f]/g, "") });
    }
    return pieces;
  });
}

function styleAfter(style: Style, code: number): Style {
  switch (code) {
    case 0:
      return PLAIN;
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, isDim: true };
    case 7:
      return { ...style, isInverse: true };
    case 22:
      return { ...style, isBold: false, isDim: false };
    case 27:
      return { ...style, isInverse: false };
    case 39:
      return { ...style, colour: null };
    case 49:
      return style;
    default:
      if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
      throw new Error(`The picture does not know the style ${code}`);
  }
}
