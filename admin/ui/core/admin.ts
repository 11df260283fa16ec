import type { Clock } from "../../../server/clock.ts";
import { SECOND } from "../../../server/clock.ts";
import { problemOf } from "../client/problem.ts";
import type { Renewal, Session } from "../client/session.ts";
import { meResource } from "../data/me.ts";
import { drawFrame, innerSize } from "../frame/draw.ts";
import { layoutOf } from "../frame/layout.ts";
import type { Input } from "../keys/decode.ts";
import type { Line } from "../text/line.ts";
import { type Cache, createCache, type Resource } from "./cache.ts";
import { createCalls } from "./calls.ts";
import { commonActions } from "./common_actions.ts";
import { createInOrg, sayProblem } from "./in_org.ts";
import { type Offer, offersOf, typingOf } from "./offers.ts";
import { commandOf, promptStep } from "./prompt.ts";
import type { AnyScreen, At, Ui } from "./screen.ts";
import { initialState, type Layer, reduce, topOf, type UiEvent, type UiState } from "./state.ts";
import { createTransfers } from "./transfers.ts";

/** The running admin without a terminal: inputs go in, frames come out. */
export interface Admin {
  /** The present frame: as many lines as the window has rows, each as wide as the window. */
  readonly frame: readonly Line[];
  readonly state: UiState;
  /** Something that is shown was asked of the server and has not come yet. */
  readonly isLoading: boolean;
  /** The keys that work now, as the footer shows them. */
  offers(): Offer[];
  onFrame(listener: () => void): () => void;
  /** To be called when the present frame is on the terminal. */
  painted(): void;
  input(input: Input): void;
  resize(columns: number, rows: number): void;
  /** Cancels what is under way in the background, and waits until that has cleaned up. */
  close(): Promise<void>;
}

export interface AdminOptions {
  readonly session: Session;
  readonly clock: Clock;
  readonly zone: string;
  /** The environment of this program; empty when left out. */
  readonly env?: (name: string) => string | undefined;
  /** Whether no server runs, so that nothing is scheduled. */
  isOwnProcess(): boolean;
  /** A warning to begin with. */
  readonly notice?: string | undefined;
  readonly columns: number;
  readonly rows: number;
  readonly screens: readonly AnyScreen[];
  readonly first: { readonly screen: AnyScreen; readonly params: unknown };
  /** Where one begins in another org; the first screen when left out. */
  readonly home?: { readonly screen: AnyScreen; readonly params: unknown };
  /** Opened over everything when the token stops working. */
  readonly signIn: AnyScreen;
  switchOrg(ui: Ui, org: string, how: Renewal): Promise<void>;
  suspend(work: () => Promise<void>): Promise<void>;
  /** Ctrl-Z. */
  stop(): void;
  redraw(): void;
  quit(): void;
  /** Something was thrown that is a mistake in the program. */
  onCrash(error: unknown): void;
}

const SAY_MS = 8 * SECOND;
const TICK_MS = SECOND;

export function createAdmin(options: AdminOptions): Admin {
  const { session, clock, zone } = options;
  let state = initialState(options.first.screen, options.first.params, options.columns, options.rows);
  let frame: readonly Line[] = [];
  let shownNow: ReadonlyMap<string, Resource<unknown>> = new Map();
  let isDrawing = false;
  let isClosed = false;
  /** The layer on top of the frame that was drawn last, and of the last one that is on the terminal. */
  let drawnLayer = 0;
  let paintedLayer = 0;
  const listeners = new Set<() => void>();
  const cache: Cache = createCache({
    call: (work, callOptions) => session.call(work, callOptions),
    now: clock.now,
    isLinked: () => session.link.kind === "connected",
    onChange: () => invalidate(),
  });

  /** Draws soon: once for all that happens until then. */
  const invalidate = () => {
    if (isDrawing || isClosed) return;
    isDrawing = true;
    queueMicrotask(() => guarded(draw));
  };

  const draw = () => {
    isDrawing = false;
    if (isClosed) return;
    const shown = new Map<string, Resource<unknown>>([[meResource.key, meResource]]);
    const read = <T>(resource: Resource<T>) => {
      shown.set(resource.key, resource as Resource<unknown>);
      return cache.read(resource);
    };
    const at = (layer: Layer) => atOf(layer, read);
    frame = drawFrame({
      state,
      at,
      // What an action looks at to know whether it is offered is shown, too.
      offers: () => offers(read),
      session,
      now: clock.now(),
      zone,
      isOwnProcess: options.isOwnProcess(),
      shown,
      cache,
      transfers: transfers.list(),
      calls: calls.list(),
    });
    shownNow = shown;
    drawnLayer = topOf(state).id;
    cache.show(shown);
    for (const listener of listeners) listener();
  };

  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      options.onCrash(error);
    }
  };

  const dispatch = (event: UiEvent) => {
    const next = reduce(state, event);
    if (next === state) return;
    state = next;
    invalidate();
  };

  const say = (text: string, tone: "good" | "warn" | "bad" = "good") =>
    dispatch({ kind: "say", message: { text, tone, until: clock.now() + SAY_MS } });

  const transfers = createTransfers({
    now: clock.now,
    onChange: () => invalidate(),
    onBegin(what) {
      // Its progress stands where the last message does.
      dispatch({ kind: "hush", now: Infinity });
      dispatch({ kind: "busy", what });
    },
    onEnd(what, note, tone, org = session.org) {
      dispatch({ kind: "done", what });
      say(org === session.org ? note : `${org}: ${note}`, tone);
      cache.refresh();
    },
  });

  const calls = createCalls({
    session,
    now: clock.now,
    onBegin(what) {
      // What was said of an earlier one would pass for what comes of this one.
      dispatch({ kind: "hush", now: Infinity });
      dispatch({ kind: "busy", what });
    },
    onEnd: (what) => dispatch({ kind: "done", what }),
  });

  const inOrg = createInOrg({
    org: () => session.org,
    say,
    calls,
    transfers,
    isBusy: (what) => state.busy.includes(what),
    refresh: () => cache.refresh(),
  });

  const ui = (read: Ui["read"], here = inOrg(session.org)): Ui => ({
    now: clock.now(),
    zone,
    ...here,
    session,
    link: session.link,
    me: cache.read(meResource).value,
    read,
    refresh: (resource) => cache.refresh(resource?.key),
    clock,
    env: options.env ?? (() => undefined),
    open(screen, params) {
      if (session.org !== here.org) return { set: () => {}, close: () => {} };
      const layer = state.nextId;
      dispatch({ kind: "open", screen: screen as AnyScreen, params });
      return {
        set: (change) => dispatch({ kind: "set", layer, change: change as (state: unknown) => unknown }),
        close: () => dispatch({ kind: "close", layer }),
      };
    },
    async openLate(load, open) {
      const { id } = topOf(state);
      const module = await load();
      if (topOf(state).id === id) open(module);
    },
    home: (screen, params) => dispatch({ kind: "home", screen: screen as AnyScreen, params }),
    switchOrg: (org) =>
      calls.during(
        `Go to ${org}`,
        // A form that was begun while one waited would be lost.
        (signal) => options.switchOrg(ui(read), org, { signal, isWanted: () => !isUnsent() }),
      ),
    suspend: options.suspend,
    quit: options.quit,
  });

  const atOf = (layer: Layer, read: Ui["read"] = cache.read): At<unknown, unknown> => ({
    ...ui(read),
    ...innerSize(state, layer),
    params: layer.params,
    state: layer.state,
    filter: layer.filter,
    set: (change) =>
      dispatch({
        kind: "set",
        layer: layer.id,
        change: typeof change === "function"
          ? change as (state: unknown) => unknown
          : (before) => ({ ...before as object, ...change as object }),
      }),
    close: () => dispatch({ kind: "close", layer: layer.id }),
  });

  const isUnsent = () => state.layers.some((layer) => layer.screen.isUnsent?.(atOf(layer)) === true);

  const common = commonActions(
    {
      state: () => state,
      dispatch,
      offers: () => offers(),
      isUnsent,
      stop: options.stop,
      redraw: options.redraw,
      refresh: () => cache.refresh(),
      calls,
    },
    options.screens,
  );

  const offers = (read?: Ui["read"]) => {
    const layer = topOf(state);
    return offersOf(layer.screen, atOf(layer, read), common);
  };

  /** Carries an action out; what the server refuses is said, anything else is a crash. */
  const carryOut = (offer: Offer, input: string) => {
    const failed = (error: unknown) => {
      const problem = problemOf(error);
      if (problem === null) options.onCrash(error);
      else sayProblem(problem, say);
    };
    try {
      Promise.resolve(offer.run(input)).catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  const promptInput = (input: Input) => {
    const prompt = state.prompt!;
    const step = promptStep(prompt, input, offers());
    if (step.kind === "edit") dispatch({ kind: "prompt", prompt: { ...prompt, edit: step.edit } });
    if (step.kind === "none" || step.kind === "edit") return;
    if (step.kind === "cancel" && prompt.kind === "filter") {
      dispatch({ kind: "filter", layer: prompt.layer, text: "" });
    }
    dispatch({ kind: "prompt", prompt: null });
    if (step.kind !== "run") return;
    const command = commandOf(step.text, offers());
    if (typeof command === "string") say(command, "bad");
    else if (command !== null) carryOut(command.offer, command.input);
  };

  const input = (one: Input) => {
    // In a window without a frame nobody sees what a key would do.
    const isBlind = layoutOf(state.columns, state.rows) === null;
    // Nor does anybody see the question of `q`.
    const known = isUnsent() ? ["ctrl-c", "ctrl-z"] : ["ctrl-c", "ctrl-z", "q"];
    if (isBlind && !(one.kind === "key" && known.includes(one.key))) return;
    if (state.prompt !== null && !isBlind && !(one.kind === "key" && one.key === "ctrl-c")) return promptInput(one);
    const layer = topOf(state);
    // Whoever typed this has not seen the question.
    if (layer.screen.isQuestion === true && layer.id > paintedLayer && !(one.kind === "key" && one.key === "ctrl-c")) {
      return;
    }
    const type = typingOf(layer.screen, atOf(layer));
    if (one.kind === "paste") return type?.(one.text);
    const offer = offers().find(({ keys }) => keys.includes(one.key));
    if (offer !== undefined) carryOut(offer, one.key);
    else if (type !== null && !/^(?:alt|ctrl)-|^[a-z][a-z0-9-]+$/.test(one.key)) type(one.key);
  };

  let org = session.org;
  session.onLink(() => {
    if (session.org !== org) {
      org = session.org;
      cache.clear();
      dispatch({ kind: "home", ...options.home ?? options.first });
    }
    if (session.link.kind === "connected") cache.refresh();
    const isAsking = state.layers.some(({ screen }) => screen === options.signIn);
    if (session.link.kind === "signed_out" && !isAsking) {
      dispatch({ kind: "open", screen: options.signIn, params: { org: session.org } });
    }
    invalidate();
  });
  const ticker = setInterval(() => {
    dispatch({ kind: "hush", now: clock.now() });
    invalidate();
  }, TICK_MS);
  if (options.notice !== undefined) say(options.notice, "warn");
  guarded(draw);

  return {
    get frame() {
      return frame;
    },
    get state() {
      return state;
    },
    get isLoading() {
      return [...shownNow.values()].map((one) => cache.read(one)).some(({ at, problem }) =>
        at === null && problem === null
      );
    },
    offers: () => offers(),
    onFrame(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    painted() {
      paintedLayer = Math.max(paintedLayer, drawnLayer);
    },
    input: (one) => guarded(() => input(one)),
    resize(columns, rows) {
      dispatch({ kind: "resize", columns, rows });
      guarded(draw);
    },
    async close() {
      isClosed = true;
      clearInterval(ticker);
      cache.close();
      calls.giveUp();
      await transfers.close();
    },
  };
}
