import { type At, defineScreen } from "../core/screen.ts";
import { podSessionsResource, type Session } from "../data/pods.ts";
import { sessionFacts } from "../data/session_words.ts";
import { partsOf } from "../data/sessions.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { factLines } from "../widgets/facts.ts";
import { scrolled } from "../widgets/pager.ts";
import { drawReading } from "../widgets/reading.ts";
import { sessionActions } from "./session_actions.ts";

export interface SessionParams {
  readonly podId: string;
  readonly id: number;
}

interface State {
  readonly from: number;
}

type SessionAt = At<SessionParams, State>;

const sessionOf = (at: SessionAt): Session | undefined =>
  at.read(podSessionsResource(at.params.podId)).value?.find(({ id }) => id === at.params.id);

/** One session: what went wrong with it, when it is, and its rules. */
export const sessionScreen = defineScreen<SessionParams, State>({
  id: "session",
  title: (at) => sessionOf(at)?.title ?? `Session ${at.params.id}`,
  about: "One session. What went wrong stands first, with what to do.",
  init: () => ({ from: 0 }),
  actions: [
    ...sessionActions<SessionParams, State>(sessionOf, (at) => at.close()),
    {
      keys: ["down", "up", "j", "k", "pagedown", "pageup", "home", "end", "g", "G"],
      shown: "↑↓",
      label: "scroll",
      when: (at) => bodyLines(at).length > at.height,
      run: (at, key) => {
        const last = Math.max(0, bodyLines(at).length - at.height);
        at.set({ from: scrolled(Math.min(at.state.from, last), key, at.height, last) });
      },
    },
  ],
  view: (at) => {
    const lines = bodyLines(at);
    const from = Math.min(at.state.from, Math.max(0, lines.length - at.height));
    return lines.slice(from, from + at.height);
  },
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
