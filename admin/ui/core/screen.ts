/**
 * What a screen is. To add one:
 *
 * 1. Make `screens/<name>.ts` that exports one object of type `Screen<P, S>`, built by `defineScreen`. `P` is what it is
 *    opened with (the id of a pod), `S` what it remembers while it is open (the selected row, a form's text). Both are
 *    plain data; a screen has no other memory.
 * 2. Put it into `SCREENS` of `screens/list.ts`. A screen with `command` is then reached by `:word` from everywhere;
 *    others are opened by an action: `at.open(filesScreen, { podId })`.
 * 3. `view` draws the body: lines of text (`text/line.ts`) for `at.width` columns and at most `at.height` rows. Longer
 *    lines are cut and further lines dropped, so a view never breaks the frame; it is called for every frame, so it must
 *    be quick and only draw. Everything it shows comes from `at.state`, `at.params` and `at.read(resource)`.
 *
 * Data: a `Resource` (`core/cache.ts`) says how something is loaded and how often. `at.read(resource)` gives what is
 * known now, and whatever a view read is loaded and kept fresh while it is shown. `drawReading` (`widgets/reading.ts`)
 * draws loading, failed and empty alike everywhere.
 *
 * A key or a command: an entry in `actions`. The footer, the help, the keys and the command line all come from this one
 * table: an action that `when` does not offer is not shown and does not work. Give it `keys`, a `word` for the command
 * line, or both. A list is `listOf` (`widgets/list.ts`), which brings its keys
 * and draws itself; lines that are longer than the window are `widgets/scroll.ts`.
 *
 * A change of the server: `at.call("Stop workshop", (api, org) => read(api.org.pods[":id"].action.$post(…)))`. It is
 * shown while it runs, a refusal is said in the server's own words (then the result is null), and everything shown is
 * loaded again afterwards. What costs money, ends connections or loses files asks first: `at.open(confirmScreen, …)`.
 *
 * A form: `at.open(formScreen, { title, fields, schema, submit })` (`widgets/form/`). It checks with the server's own
 * schema as one types and puts the server's refusal at the field it names. Other ready screens: `pickerScreen`,
 * `pagerScreen`, and `runWithProgress` (`widgets/progress.ts`) for what takes long.
 *
 * A test: `startFakeAdmin` (`tests/support/fake_admin.ts`) runs the whole admin over a world in the test's process, on a
 * terminal of any size: `await admin.press("j", "enter")`, `await admin.until("Terminate workshop?")`,
 * `admin.footer()` for the keys that are shown. Put the feature's test into `tests/admin/features.ts`.
 */
import type { Clock } from "../../../server/clock.ts";
import type { CallOptions, Link, Session, Work } from "../client/session.ts";
import type { Line } from "../text/line.ts";
import type { Me } from "../data/me.ts";
import type { Reading, Resource } from "./cache.ts";
import type { Calls } from "./calls.ts";
import type { Transfers } from "./transfers.ts";

export interface Screen<P, S> {
  /** Short and unique: `pods`, `pod-access`. */
  readonly id: string;
  /** The word of the command line that opens it, for screens that need nothing to be opened. */
  readonly command?: { readonly word: string; readonly about: string; open(): P };
  /** What the title line says, such as `Pod workshop`. */
  title(at: At<P, S>): string;
  /** What it remembers when it is opened. */
  init(params: P): S;
  /** Keys and commands, the most important first: the footer shows as many as fit. */
  readonly actions: readonly Action<P, S>[];
  /** Lines for the help, beside the keys. */
  readonly about?: string;
  /** True for a list that `/` filters; the text is in `at.filter`. */
  readonly hasFilter?: boolean;
  /** Drawn as a box over the screen below, which stays in sight. */
  readonly isDialog?: boolean;
  /** A dangerous question: keys that were typed before it stood on the terminal are no answer to it, and are dropped. */
  readonly isQuestion?: boolean;
  /**
   * Where text is typed: what was typed or pasted goes here, and letters are no keys. Null (or left out) while nothing is
   * typed into.
   */
  typing?(at: At<P, S>): ((text: string) => void) | null;
  /** Whether something was typed here that is lost when the screen is left: then `q` and commands ask first. */
  isUnsent?(at: At<P, S>): boolean;
  view(at: At<P, S>): readonly Line[];
}

/** Makes a screen; the types of what it is opened with and what it remembers follow from `init`. */
export function defineScreen<P, S>(screen: Screen<P, S>): Screen<P, S> {
  return screen;
}

/** Any screen, in lists and on the stack. Methods are compared loosely, so every screen fits. */
export type AnyScreen = Screen<unknown, unknown>;

/**
 * A key or a command. The rule of the keys: `n` makes something new, `a` adds to a list of people or roles, `d` removes
 * the selected thing, `D` deletes what takes other things with it, `enter` opens. A key that a screen had before the rule
 * may stand second and goes on working. `tests/admin/key_rule_test.ts` walks all screens and holds the exceptions.
 */
export interface Action<P, S> {
  /** Names as in `keys/decode.ts`; the first is shown. */
  readonly keys?: readonly string[];
  /** What the footer shows in place of the first key, such as `↑↓`. */
  readonly shown?: string;
  /** The word of the command line. */
  readonly word?: string;
  /** Says what the command takes, such as `<minutes>`; without it, it takes nothing. */
  readonly takes?: string;
  /** One or two words for the footer. */
  readonly label: string;
  /** A sentence for the help; the label when left out. */
  readonly about?: string;
  /** Only in the help, not in the footer: what every line of text and every program has. */
  readonly isMinor?: boolean;
  /** Whether it is offered now; always when left out. */
  when?(at: At<P, S>): boolean;
  /**
   * `input` is the key that was pressed, or what stands behind the word on the command line. A promise is waited for, so
   * that a problem is said; any other result is dropped.
   */
  run(at: At<P, S>, input: string): unknown;
}

/** What a screen may read and do, whatever it shows. */
export interface Ui {
  /** Milliseconds since 1970, the same for a whole frame. */
  readonly now: number;
  /** The officer's time zone, such as `Europe/Berlin`. */
  readonly zone: string;
  readonly org: string;
  readonly session: Session;
  readonly link: Link;
  /** Who is signed in; undefined until it is known. */
  readonly me: Me | undefined;
  read<T>(resource: Resource<T>): Reading<T>;
  /** Loads again what is shown, or one resource. */
  refresh(resource?: Resource<unknown>): void;
  /** For what goes on after the frame: the speed of a transfer, say. */
  readonly clock: Clock;
  /** The environment of this program, such as `HOME` and `EDITOR`. */
  env(name: string): string | undefined;
  /** Files on their way in the background. */
  readonly transfers: Transfers;
  /**
   * Opens a screen above this one; the handle is for what goes on beside it, such as a transfer. Nothing is opened once one
   * has gone to another org: what is asked there would be done there.
   */
  open<P, S>(screen: Screen<P, S>, params: P): Handle<S>;
  /**
   * Opens something of a module that is loaded now, such as a heavy form; nothing when another screen came or went
   * meanwhile: a key that is pressed twice opens it once.
   */
  openLate<M>(load: () => Promise<M>, open: (module: M) => void): Promise<void>;
  /** Leaves everything above the first screen and opens this one there. */
  home<P, S>(screen: Screen<P, S>, params: P): void;
  /**
   * A message in the line above the footer. `about` is the org it is about, the one of this screen when left out: where one
   * has gone to another org meanwhile, its name stands before the message.
   */
  say(text: string, tone?: "good" | "warn" | "bad", about?: string): void;
  /**
   * Asks the server to do something, and shows `what` while it does. Gives null when it did not succeed; the reason has
   * been said. The answer's warnings are said too.
   */
  call<T>(what: string, work: Work<T>, options?: CallOptions): Promise<T | null>;
  /** What `call` goes through: for who says the problem by itself. */
  readonly calls: Calls;
  /** Goes on with another org; signs in first where the token is for one org only. */
  switchOrg(org: string): Promise<void>;
  /** Gives the terminal to `work` (an editor, say), and takes it back. */
  suspend(work: () => Promise<void>): Promise<void>;
  /** Leaves the admin. */
  quit(): void;
}

/** A screen that was opened, for whoever opened it. Once it is closed, both do nothing. */
export interface Handle<S> {
  set(change: (state: S) => S): void;
  close(): void;
}

/** One screen that is open, as its own code sees it at one moment. */
export interface At<P, S> extends Ui {
  readonly params: P;
  readonly state: S;
  readonly width: number;
  readonly height: number;
  /** What stands in the filter; empty for everything. */
  readonly filter: string;
  /** Changes what the screen remembers. After a wait use the form with a function: the state may have changed. */
  set(change: Partial<S> | ((state: S) => S)): void;
  /** Closes this screen, wherever it is. */
  close(): void;
}
