import { problemOf } from "../client/problem.ts";
import { isOpen } from "../core/is_open.ts";
import { type AnyScreen, type At, defineScreen } from "../core/screen.ts";
import { wrap } from "../text/cells.ts";
import { type Edit, editKey, editOf, editSpans, editText, insert } from "../text/edit.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";

/** How one signs in to a server elsewhere. */
export interface Access {
  /** The page that shows an officer token. */
  pageOf(org: string): string;
  /**
   * Goes on with a token, and keeps it; gives a warning, or null. Throws `Problem` for a token that does not work, and for
   * another org when the sign-in is not wanted any more by then.
   */
  accept(org: string, token: string, isWanted: () => boolean): Promise<string | null>;
}

interface State {
  readonly token: Edit;
  readonly isChecking: boolean;
  readonly refusal: string | null;
}

const HOW = "Open this page in a browser, sign in with Discord and paste the officer token that it shows:";
const HOW_SHORT = "Paste the officer token of this page:";

type SignInAt = At<{ readonly org: string }, State>;

/** The dialog for a new officer token. What is below it stays as it is, with what was typed there. */
export function createSignIn(access: Access): AnyScreen {
  return defineScreen<{ readonly org: string }, State>({
    id: "sign-in",
    isDialog: true,
    title: (at) => `Sign in to ${at.params.org}`,
    about: "The token that the page shows is pasted here; it is not drawn.",
    init: () => ({ token: editOf(""), isChecking: false, refusal: null }),
    typing: (at) => (text) => typed(at, (token) => insert(token, text.replace(/\s+/g, ""))),
    actions: [
      {
        keys: ["enter"],
        label: "sign in",
        when: (at) => at.state.token.letters.length > 0 && !at.state.isChecking,
        run: (at) => signIn(access, at),
      },
      {
        keys: ["backspace", "ctrl-u", "left", "right", "home", "end", "delete", "ctrl-a", "ctrl-e", "ctrl-k", "ctrl-w"],
        label: "erase",
        isMinor: true,
        when: (at) => at.state.token.letters.length > 0,
        run: (at, key) => typed(at, (token) => editKey(token, key) ?? token),
      },
    ],
    view: (at) => {
      const { width, height, state, params, link } = at;
      const text = (content: string, tone?: "bad" | "accent"): Line[] =>
        wrap(content, width).map((part) => line(span(part, tone)));
      const page = text(access.pageOf(params.org), "accent");
      const input = [
        line("Token: ", ...editSpans(state.token, Math.max(4, width - 8), true)),
        ...(state.isChecking ? text("Checking it …") : []),
        ...(state.refusal === null ? [] : text(`! ${state.refusal}`, "bad")),
      ];
      const why = link.kind === "signed_out" ? text(`! ${link.sentence}`, "bad") : [];
      const whole = [...why, ...text(HOW), ...page, BLANK, ...input];
      if (whole.length <= height) return whole;
      // Where one types and what came of it must be seen whatever the window is; then the page, then the rest.
      const above = [...(state.refusal === null ? why : []), ...text(HOW_SHORT), ...page];
      return [...above.slice(-Math.max(1, height - input.length)), ...input];
    },
  }) as AnyScreen;
}

function typed(at: SignInAt, change: (token: Edit) => Edit): void {
  at.set((state) => ({ ...state, token: change(state.token), refusal: null }));
}

async function signIn(access: Access, at: SignInAt): Promise<void> {
  at.set({ isChecking: true, refusal: null });
  try {
    const warning = await access.accept(at.params.org, editText(at.state.token), () => isOpen(at));
    at.close();
    at.say(warning ?? "You are signed in", warning === null ? "good" : "warn", at.params.org);
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    at.set({ isChecking: false, refusal: problem.sentence, token: editOf("") });
  }
}
