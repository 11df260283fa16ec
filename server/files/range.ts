/** The bytes of a file that a request wants (RFC 9110, 14). `end` is the byte after the last one. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a Range header against a file of `size` bytes. Null: the whole file, also for what is no range of ours (other
 * units, several ranges, nonsense), as the RFC has it. "unsatisfiable": a good range that holds no byte of the file.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec((header ?? "").trim());
  if (found === null) return null;
  const [, first = "", last = ""] = found;
  if (first === "") {
    if (last === "") return null;
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}
