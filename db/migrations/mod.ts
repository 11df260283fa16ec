import { INITIAL } from "./0001_initial.ts";
import { SESSIONS_MONEY } from "./0002_sessions_money.ts";
import { DOORS } from "./0003_doors.ts";
import { KEY_ROTATION } from "./0004_key_rotation.ts";

/** Every schema change, oldest first. A landed migration is never edited; a change is a new file at the end. */
export const MIGRATIONS: readonly string[] = [INITIAL, SESSIONS_MONEY, DOORS, KEY_ROTATION];
