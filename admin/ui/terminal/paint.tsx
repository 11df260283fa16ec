import { Box, Text, type TextProps, useApp } from "ink";
import { memo, useEffect, useRef, useSyncExternalStore } from "react";
import type { Admin } from "../core/admin.ts";
import type { Line, Span, Tone } from "../text/line.ts";

/** Tones as a terminal draws them. Everything is said by words and marks too, so none of it is needed. */
const STYLES: Readonly<Record<Tone, TextProps>> = {
  dim: { dimColor: true },
  strong: { bold: true },
  good: { color: "green" },
  warn: { color: "yellow" },
  bad: { color: "red", bold: true },
  accent: { color: "cyan" },
};

/** Gives the terminal to `work` and takes it back. */
export type Suspend = (work: () => Promise<void>) => Promise<void>;

/** The frame of the admin, line by line. `onReady` gets what only a component can have of Ink. */
export function Paint(
  { admin, onReady }: {
    readonly admin: Pick<Admin, "frame" | "onFrame">;
    readonly onReady?: (suspend: Suspend) => void;
  },
) {
  const { suspendTerminal } = useApp();
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);
  const frame = useFrame(admin);
  return (
    <Box flexDirection="column" flexShrink={0}>
      {frame.map((line, row) => <Row key={row} line={line} />)}
    </Box>
  );
}

/**
 * The frame of the admin; one that looks like the last is the last. It is drawn anew every second and after each answer, and
 * the library draws at most every 34 ms: without this, a key that comes right after such a frame would wait for its turn.
 */
function useFrame(admin: Pick<Admin, "frame" | "onFrame">): readonly Line[] {
  const shown = useRef(admin.frame);
  return useSyncExternalStore(admin.onFrame, () => {
    if (!isSameFrame(shown.current, admin.frame)) shown.current = admin.frame;
    return shown.current;
  });
}

const Row = memo(
  ({ line }: { readonly line: Line }) => (
    <Box flexShrink={0}>
      <Text wrap="truncate">
        {joined(line).map((span, at) => <Text key={at} {...styleOf(span)}>{span.text}</Text>)}
      </Text>
    </Box>
  ),
  (before, after) => isSame(before.line, after.line),
);

/** The same line in as few pieces as its styles allow: each piece costs the drawing library time and memory. */
function joined(line: Line): Span[] {
  const pieces: Span[] = [];
  for (const span of line) {
    const last = pieces.at(-1);
    if (last !== undefined && last.tone === span.tone && last.inverse === span.inverse) {
      pieces[pieces.length - 1] = { ...last, text: last.text + span.text };
    } else pieces.push(span);
  }
  return pieces;
}

function styleOf({ tone, inverse }: Span): TextProps {
  return { ...(tone === undefined ? {} : STYLES[tone]), ...(inverse === true ? { inverse: true } : {}) };
}

function isSame(a: Line, b: Line): boolean {
  return a.length === b.length && a.every((span, at) => {
    const other = b[at]!;
    return span.text === other.text && span.tone === other.tone && span.inverse === other.inverse;
  });
}

function isSameFrame(a: readonly Line[], b: readonly Line[]): boolean {
  return a.length === b.length && a.every((line, row) => isSame(line, b[row]!));
}
