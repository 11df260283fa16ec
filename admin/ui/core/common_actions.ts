import { read } from "../../client/api.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { pagerScreen } from "../widgets/pager.ts";
import type { Calls } from "./calls.ts";
import { helpLines } from "./help.ts";
import type { Offer } from "./offers.ts";
import type { Action, AnyScreen, At, Ui } from "./screen.ts";
import { filterPrompt, topOf, type UiEvent, type UiState } from "./state.ts";
import { editOf } from "../text/edit.ts";

/** What the actions of every screen need of the admin around them. */
export interface Common {
  state(): UiState;
  dispatch(event: UiEvent): void;
  offers(): Offer[];
  /** Something was typed on an open screen that is lost when it is left. */
  isUnsent(): boolean;
  /** The terminal's own suspend key; it goes on when the shell says so. */
  stop(): void;
  redraw(): void;
  /** Loads again what is shown; gives how many loads began. */
  refresh(): number;
  readonly calls: Calls;
}

type Anywhere = Action<unknown, unknown>;

/** Keys and commands that every screen has: filter, command line, help, back, refresh, leave. */
export function commonActions(common: Common, screens: readonly AnyScreen[]): Anywhere[] {
  const top = () => topOf(common.state());
  const isTop = (screen: AnyScreen) => top().screen === screen;
  return [
    {
      keys: ["ctrl-x"],
      word: "give-up",
      label: "give up",
      about: "wait no longer for what the server is being asked to do; whether it does it is not known then",
      when: () => common.calls.list().length > 0,
      run: () => common.calls.giveUp(),
    },
    {
      keys: ["/"],
      word: "filter",
      label: "filter",
      about: "show only what contains a text",
      when: () => top().screen.hasFilter === true,
      run: () => common.dispatch({ kind: "prompt", prompt: filterPrompt(common.state()) }),
    },
    {
      keys: ["?", "f1"],
      word: "help",
      label: "help",
      about: "keys and commands of this screen",
      when: () => !isTop(pagerScreen as AnyScreen),
      run: (at) => {
        const { screen } = top();
        const offers = common.offers();
        at.open(pagerScreen, {
          title: `Help: ${screen.title(at)}`,
          lines: (width) => helpLines(screen.about, offers, width),
        });
      },
    },
    {
      keys: ["esc"],
      label: "back",
      about: "back to the screen before; with a filter, take it away first",
      when: () => common.state().layers.length > 1 || top().filter !== "",
      run: (at) => {
        if (top().filter !== "") common.dispatch({ kind: "filter", layer: top().id, text: "" });
        else at.close();
      },
    },
    {
      keys: [":"],
      label: "command",
      about: "type a command; tab completes it",
      run: () => common.dispatch({ kind: "prompt", prompt: { kind: "command", edit: editOf("") } }),
    },
    {
      keys: ["ctrl-r"],
      word: "refresh",
      label: "refresh",
      about: "load again what is shown; without a connection, try the server at once",
      run: (at) => refresh(at, common),
    },
    {
      keys: ["q", "ctrl-c"],
      word: "quit",
      label: "quit",
      about: "leave the admin; what was typed and not sent is asked about, but not by ctrl-c",
      run: (at, key) => key === "ctrl-c" ? leave(at, common) : unlessUnsent(at, common, (ui) => leave(ui, common)),
    },
    {
      keys: ["ctrl-z"],
      label: "suspend",
      about: "back to the shell; fg returns",
      isMinor: true,
      run: () => common.stop(),
    },
    {
      keys: ["ctrl-l"],
      label: "redraw",
      about: "draw the whole screen anew",
      isMinor: true,
      run: () => common.redraw(),
    },
    ...screens.flatMap((screen): Anywhere[] => {
      const { command } = screen;
      if (command === undefined) return [];
      return [{
        word: command.word,
        label: command.word,
        about: command.about,
        run: (at) => unlessUnsent(at, common, (ui) => ui.home(screen, command.open())),
      }];
    }),
  ];
}

/** Loads again; a key that is pressed because nothing seems to happen gets an answer whatever there is to load. */
async function refresh(at: At<unknown, unknown>, common: Common): Promise<void> {
  if (at.link.kind !== "connected") {
    await at.call("Reach the server", (api, org) => read(api.org.me.$get({ param: { org } })));
  } else if (common.refresh() === 0) at.say("It is being loaded already", "warn");
}

/** Goes away from the open screens, after a question where that loses what was typed on one of them. */
function unlessUnsent(at: At<unknown, unknown>, common: Common, go: (ui: Ui) => void): void {
  if (!common.isUnsent()) return go(at);
  // A question that is open is answered by no; else the same one could stand on top of itself.
  if (topOf(common.state()).screen.isQuestion === true) at.close();
  at.open(confirmScreen, {
    title: "Leave the form",
    lines: () => ["What you typed is lost."],
    yes: "leave it",
    onYes: go,
  });
}

/** Leaves at once, or on the second press while the server is being asked to do something. */
function leave(at: Ui, common: Common): void {
  const { busy, messages } = common.state();
  const warning = "Something is still under way; press again to leave without waiting for it";
  if (busy.length === 0 || messages.at(-1)?.text === warning) return at.quit();
  at.say(warning, "warn");
}
