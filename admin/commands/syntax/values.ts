import { InvalidArgumentError } from "commander";
import type { Shell } from "../shell.ts";

/** Carries a command out and keeps its exit code; nothing stands for 0. */
export type Run = (work: (shell: Shell) => Promise<number | void>) => Promise<void>;

/** The example at the end of a help text. */
export function example(line: string): string {
  return `\nExample:\n  ${line}`;
}

/** Parses a whole number between two bounds. */
export function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Parser of an option that may be given many times. */
export function collect(text: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before : []), text];
}

/** Parser of a path: an empty one, such as that of an unset variable, would mean the top of the file system. */
export function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}
