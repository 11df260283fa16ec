/** Shows how far a transfer is, on one line of a terminal that is written anew. */
export interface Progress {
  /** Counts bytes; returns at once. */
  add(bytes: number): void;
  /** Takes the line away. */
  end(): Promise<void>;
}

export interface ProgressOptions {
  /** Where the line goes. */
  write(text: string): Promise<void>;
  /** Nothing is shown unless it is a terminal. */
  readonly isTerminal: boolean;
  /** Milliseconds of a clock that never jumps. */
  now(): number;
  /** All bytes of the transfer, where that is known. */
  readonly total?: number;
  /** Bytes that were there before it began. */
  readonly done?: number;
}

/** A new line at most so often. */
const EVERY_MS = 200;
/** The speed shown is that of the last few seconds. */
const SPEED_MS = 4_000;
const ERASE = "\r\x1b[K";

export function createProgress({ write, isTerminal, now, total, done = 0 }: ProgressOptions): Progress {
  if (!isTerminal) return { add: () => {}, end: () => Promise.resolve() };
  const begun = now();
  let bytes = done;
  let shownAt = begun;
  let marks: readonly Mark[] = [{ at: begun, bytes }];
  let written = Promise.resolve();
  let isShown = false;
  return {
    add(count) {
      bytes += count;
      const at = now();
      if (at - shownAt < EVERY_MS) return;
      shownAt = at;
      marks = [...recent(marks, at), { at, bytes }];
      const line = progressLine({ bytes, total, bytesPerSecond: speedOf(marks) });
      isShown = true;
      written = written.then(() => write(ERASE + line));
    },
    async end() {
      await written;
      if (isShown) await write(ERASE);
    },
  };
}

interface Mark {
  readonly at: number;
  readonly bytes: number;
}

/** Of the marks the last one before the stretch that counts, and those in it. */
function recent(marks: readonly Mark[], now: number): readonly Mark[] {
  const first = marks.findIndex((mark) => now - mark.at <= SPEED_MS);
  return first === -1 ? marks.slice(-1) : marks.slice(Math.max(first - 1, 0));
}

function speedOf(marks: readonly Mark[]): number {
  const [first, last] = [marks[0]!, marks.at(-1)!];
  return (last.bytes - first.bytes) / (last.at - first.at) * 1_000;
}

/** ` 42 %  4.2 MB of 10.0 MB  1.3 MB/s  5 s left`; less where the total is not known. */
export function progressLine(
  { bytes, total, bytesPerSecond }: {
    readonly bytes: number;
    readonly total: number | undefined;
    readonly bytesPerSecond: number;
  },
): string {
  const speed = `${size(bytesPerSecond)}/s`;
  if (total === undefined) return `${size(bytes)}  ${speed}`;
  // A file that grows meanwhile must not show 104 %.
  const percent = total === 0 ? 100 : Math.min(Math.floor(bytes / total * 100), 100);
  const left = Math.max(total - bytes, 0) / bytesPerSecond;
  const wait = Number.isFinite(left) ? `  ${duration(left)} left` : "";
  return `${String(percent).padStart(3)} %  ${size(bytes)} of ${size(total)}  ${speed}${wait}`;
}

const UNITS = ["kB", "MB", "GB", "TB"];

/** Bytes for people, in powers of 1000: `999 B`, `1.0 kB`, `12.3 MB`. */
export function size(bytes: number): string {
  if (bytes < 999.5) return `${Math.round(bytes)} B`;
  let value = bytes;
  let unit = "B";
  for (const next of UNITS) {
    if (value < 999.95) break;
    value /= 1_000;
    unit = next;
  }
  return `${value.toFixed(1)} ${unit}`;
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor(whole % 3_600 / 60)} min`;
}
