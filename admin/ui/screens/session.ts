import { type At, defineScreen } from "../core/screen.ts";
import { podSessionsResource, type Session } from "../data/pods.ts";
import { sessionFacts } from "../data/session_words.ts";
import { partsOf } from "../data/sessions.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { factLines } from "../widgets/facts.ts";
import { drawReading } from "../widgets/reading.ts";
import { inSight, scrollAction, type ScrollState } from "../widgets/scroll.ts";
import { sessionActions } from "./session_actions.ts";

export interface SessionParams {
  readonly podId: string;
  readonly id: number;
}

type SessionAt = At<SessionParams, ScrollState>;

const sessionOf = (at: SessionAt): Session | undefined =>
  at.read(podSessionsResource(at.params.podId)).value?.find(({ id }) => id === at.params.id);

/** One session: what went wrong with it, when it is, and its rules. */
export const sessionScreen = defineScreen<SessionParams, ScrollState>({
  id: "session",
  title: (at) => sessionOf(at)?.title ?? `Session ${at.params.id}`,
  about: "One session. What went wrong stands first, with what to do.",
  init: () => ({ from: 0 }),
  actions: [
    ...sessionActions<SessionParams, ScrollState>(sessionOf, (at) => at.close()),
    scrollAction({ lines: bodyLines }),
  ],
  view: (at) => inSight({ lines: bodyLines }, at),
});

function bodyLines(at: SessionAt): Line[] {
  return drawReading(at.read(podSessionsResource(at.params.podId)), at.width, at.height, (sessions): Line[] => {
    const session = sessionOf(at);
    if (session === undefined) {
      return [BLANK, line(span("  ! This session is not there any more; esc goes back.", "warn"))];
    }
    const facts = factLines(sessionFacts(at, session, partsOf(sessions).open), at.width - 2);
    return facts.map((one) => [span(" "), ...one]);
  });
}
