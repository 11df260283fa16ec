import { widthOf } from "../../../admin/ui/text/cells.ts";
import type { Piece } from "./styled_text.ts";

const CELL = { width: 8.4, height: 18 } as const;
const FONT = { size: 14, up: 13.5, family: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" } as const;
const MARGIN = 14;
const GROUND = "#15181e";
const INK = "#d7dae0";
const DIM = "#8d94a1";
const COLOURS: readonly string[] = [
  "#3b4048",
  "#f2777a",
  "#8ccf7e",
  "#e6c07b",
  "#6fa8dc",
  "#c792ea",
  "#67c7d4",
  "#ffffff",
];

/** A screen as SVG: its text stays text, in cells of one width whatever font there is. */
export function svgOf(lines: readonly (readonly Piece[])[], columns: number, title: string): string {
  const width = round(columns * CELL.width + 2 * MARGIN);
  const height = round(lines.length * CELL.height + 2 * MARGIN);
  const rows = lines.flatMap((pieces, row) => rowOf(pieces, row));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `role="img" font-family="${FONT.family}" font-size="${FONT.size}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${GROUND}"/>`,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

function rowOf(pieces: readonly Piece[], row: number): string[] {
  const y = MARGIN + row * CELL.height;
  const drawn: string[] = [];
  let column = 0;
  for (const piece of pieces) {
    const cells = widthOf(piece.text);
    const x = MARGIN + column * CELL.width;
    if (piece.isInverse) drawn.push(rect(x, y, cells, inkOf(piece)));
    drawn.push(...textOf(piece, x, y));
    column += cells;
  }
  return drawn;
}

/** The words of a piece, each at its place: spaces need no ink, and a viewer may narrow them. */
function textOf(piece: Piece, x: number, y: number): string[] {
  const fill = piece.isInverse ? GROUND : inkOf(piece);
  const weight = piece.isBold ? ` font-weight="bold"` : "";
  return Array.from(piece.text.matchAll(/\S+(?: \S+)*/g), ({ 0: words, index }) => {
    const at = x + widthOf(piece.text.slice(0, index)) * CELL.width;
    const length = widthOf(words) * CELL.width;
    return `<text x="${round(at)}" y="${round(y + FONT.up)}" fill="${fill}"${weight} textLength="${round(length)}" ` +
      `lengthAdjust="spacingAndGlyphs">${escaped(words)}</text>`;
  });
}

const inkOf = ({ colour, isDim }: Piece) => colour !== null ? COLOURS[colour]! : isDim ? DIM : INK;

const rect = (x: number, y: number, cells: number, fill: string) =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(cells * CELL.width)}" height="${CELL.height}" fill="${fill}"/>`;

const round = (value: number) => Math.round(value * 100) / 100;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
