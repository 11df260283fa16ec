import { INITIAL } from "./0001_initial.ts";

/** Every schema change, oldest first. A landed migration is never edited; a change is a new file at the end. */
export const MIGRATIONS: readonly string[] = [INITIAL];
