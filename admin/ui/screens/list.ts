import type { AnyScreen } from "../core/screen.ts";
import { attentionScreen } from "./attention.ts";
import { accessScreen } from "./access.ts";
import { findScreen } from "./find_members.ts";
import { listedPeopleScreen } from "./listed_people.ts";
import { newPodScreen } from "./new_pod.ts";
import { auditScreen } from "./audit.ts";
import { deliveriesScreen } from "./deliveries.ts";
import { eventsScreen } from "./events.ts";
import { filesScreen } from "./files/browse.ts";
import { transfersScreen } from "./files/transfers.ts";
import { fileScreen } from "./files/view.ts";
import { orgsScreen } from "./orgs.ts";
import { peopleScreen } from "./people.ts";
import { podScreen } from "./pod.ts";
import { podsScreen } from "./pods.ts";
import { sessionScreen } from "./session.ts";
import { sessionsScreen } from "./sessions.ts";
import { spendScreen } from "./spend.ts";
import { rolesScreen } from "./roles.ts";
import { settingsScreen } from "./settings.ts";
import { tokensScreen } from "./tokens.ts";
import { webhooksScreen } from "./webhooks.ts";

/** Every screen of the admin; those with a `command` are reached by `:word` from everywhere. */
export const SCREENS: readonly AnyScreen[] = [
  podsScreen,
  podScreen,
  attentionScreen,
  orgsScreen,
  newPodScreen,
  accessScreen,
  peopleScreen,
  findScreen,
  listedPeopleScreen,
  sessionsScreen,
  sessionScreen,
  spendScreen,
  eventsScreen,
  auditScreen,
  settingsScreen,
  rolesScreen,
  tokensScreen,
  webhooksScreen,
  deliveriesScreen,
  filesScreen,
  fileScreen,
  transfersScreen,
];
