import type { RenderOptions } from "ink";
import type { RawInput } from "../keys/source.ts";

/** The two sides of a terminal, as Node has them. */
export interface Streams {
  readonly stdin: RawInput;
  readonly stdout: NonNullable<RenderOptions["stdout"]> & { readonly columns?: number; readonly rows?: number };
}
