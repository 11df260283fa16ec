import type { AnyScreen } from "../core/screen.ts";
import { attentionScreen } from "./attention.ts";
import { orgsScreen } from "./orgs.ts";
import { podScreen } from "./pod.ts";
import { podsScreen } from "./pods.ts";

/** Every screen of the admin; those with a `command` are reached by `:word` from everywhere. */
export const SCREENS: readonly AnyScreen[] = [
  podsScreen,
  podScreen,
  attentionScreen,
  orgsScreen,
];
