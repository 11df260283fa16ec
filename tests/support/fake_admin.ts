/** The whole admin in the test's own process, over a world without sockets, on a fake terminal of any size. */
import type { Connection } from "../../admin/client/connection.ts";
import { TOKEN_FORM } from "../../admin/client/token.ts";
import { Problem } from "../../admin/ui/client/problem.ts";
import type { Admin } from "../../admin/ui/core/admin.ts";
import type { AnyScreen } from "../../admin/ui/core/screen.ts";
import type { Ended } from "../../admin/ui/terminal/run.ts";
import { ESCAPE_MS } from "../../admin/ui/keys/source.ts";
import { textOf } from "../../admin/ui/text/line.ts";
import { bytesOfKey, createFakeTerminal, type FakeTerminal } from "./fake_terminal.ts";
import type { World } from "./world.ts";

/** Answers in the place of the server, for calls that it wants; null lets a call through. */
export type Intercept = (request: Request) => Response | null | Promise<Response | null>;

export interface FakeAdminOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly intercept?: Intercept;
  /** The screen to begin with, and what it is opened with; the list of pods when left out. */
  readonly first?: { readonly screen: unknown; readonly params: unknown };
  readonly org?: string;
  /** Signed in as an officer by a token, as from elsewhere; the operator when left out. */
  readonly token?: string;
  readonly reconnectMs?: readonly number[];
  /** The environment of the program; empty when left out. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface FakeAdmin {
  readonly admin: Admin;
  readonly terminal: FakeTerminal;
  /** Presses keys one after the other, by their names. */
  press(...keys: string[]): Promise<void>;
  /** Types a text, letter by letter in one piece. */
  type(text: string): Promise<void>;
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The screen as text. */
  text(): string;
  /** Keys and labels of the footer, such as `x stop`, and those that only the help shows. */
  offered(): string[];
  /** Waits until the screen shows something; gives the screen. */
  until(want: string | RegExp): Promise<string>;
  /** Waits until the screen does not show it any more. */
  untilGone(want: string | RegExp): Promise<string>;
  /** Leaves by `quit`, checks that the terminal is whole, and gives how it ended. */
  close(): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** Far above what anything here takes: a machine may be very busy. */
const DEADLINE_MS = 60_000;

// Before anything with JSX is loaded, as the program does it; and once, because what restores the cursor at an exit of the
// process listens for signals from then on, which a test would be blamed for.
Deno.env.set("NODE_ENV", "production");
const { openOnTerminal } = await import("../../admin/ui/terminal/run.ts");
await import("../../admin/ui/terminal/ink_screen.tsx");
const { render, Text } = await import("ink");
const { createElement } = await import("react");
{
  const { streams } = createFakeTerminal(40, 12);
  const once = render(createElement(Text, null, ""), {
    stdout: streams.stdout,
    interactive: true,
    alternateScreen: true,
  });
  once.unmount();
  await once.waitUntilExit();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

export async function startFakeAdmin(world: World, options: FakeAdminOptions = {}): Promise<FakeAdmin> {
  const { createSession } = await import("../../admin/ui/client/session.ts");
  const { SCREENS } = await import("../../admin/ui/screens/list.ts");
  const { podsScreen } = await import("../../admin/ui/screens/pods.ts");
  const { createSignIn } = await import("../../admin/ui/screens/sign_in.ts");
  const terminal = createFakeTerminal(options.columns ?? 80, options.rows ?? 24);
  const connect = (token: string | undefined): Connection => ({
    baseUrl: "http://admin.test",
    isOperator: token === undefined,
    async fetch(request) {
      const headers = new Headers(request.headers);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      const sent = new Request(request, { headers });
      const peer = { isOperator: token === undefined, account: "test", address: "192.0.2.9" };
      return await options.intercept?.(sent) ?? await world.app.fetch(sent, peer);
    },
    close: () => Promise.resolve(),
  });
  const session = createSession({
    connection: connect(options.token),
    org: options.org ?? "org",
    address: options.token === undefined ? null : "https://pods.example.org",
    now: world.clock.now,
    reconnectMs: options.reconnectMs ?? [20],
  });
  const signIn = createSignIn({
    pageOf: (org) => `https://pods.example.org/api/compute/${org}/officer/login`,
    accept: async (org, token, isWanted) => {
      if (!token.startsWith("plat_") || !TOKEN_FORM.test(token)) {
        throw new Problem("signed_out", "A token is one line, such as plat_…");
      }
      await session.renew(connect(token), org, { isWanted: () => org === session.org || isWanted() });
      return null;
    },
  });
  const { admin, ended } = openOnTerminal({
    session,
    clock: world.clock,
    zone: "Europe/Berlin",
    env: (name) => options.env?.[name],
    isOwnProcess: () => false,
    screens: SCREENS,
    first: (options.first ?? { screen: podsScreen, params: null }) as { screen: AnyScreen; params: unknown },
    signIn,
    switchOrg: (_, org, how) => session.renew(connect(options.token), org, how),
  }, terminal.streams);

  const { screen } = terminal;
  const isDrawn = () => screen.rows().join("\n") === admin.frame.map(textOf).join("\n");
  const undrawn = () => {
    const rows = screen.rows();
    const wanted = admin.frame.map(textOf);
    const at = wanted.findIndex((text, row) => text !== rows[row]);
    return `Row ${at} of ${wanted.length}: ${JSON.stringify(rows[at])} in the place of ${JSON.stringify(wanted[at])}`;
  };
  /** Waits until what was sent has become keys (a lone escape takes a moment), and the frame is on the screen (or the admin has ended). */
  const settle = async (sent = "") => {
    await new Promise((resolve) => setTimeout(resolve, sent.endsWith("\x1b") ? ESCAPE_MS + 5 : 0));
    for (const until = performance.now() + DEADLINE_MS; screen.isAlternate && !isDrawn();) {
      if (performance.now() > until) throw new Error(`The frame was never drawn:\n${screen.text()}\n${undrawn()}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    checkFrame();
  };
  const shows = (want: string | RegExp) =>
    typeof want === "string" ? screen.text().includes(want) : want.test(screen.text());
  const wait = async (isThere: () => boolean, what: string) => {
    for (const until = performance.now() + DEADLINE_MS; !isThere();) {
      if (performance.now() > until) throw new Error(`${what}\n${screen.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    checkFrame();
    return screen.text();
  };
  const checkFrame = () => {
    if (screen.faults.length > 0) throw new Error(`The frame is broken: ${screen.faults.join("; ")}\n${screen.text()}`);
  };
  const fake: FakeAdmin = {
    admin,
    terminal,
    async press(...keys) {
      for (const key of keys) {
        terminal.send(bytesOfKey(key));
        await settle(bytesOfKey(key));
      }
    },
    async type(text) {
      terminal.send(text);
      await settle();
    },
    async paste(text) {
      terminal.send(`\x1b[200~${text}\x1b[201~`);
      await settle();
    },
    async resize(columns, rows) {
      terminal.resize(columns, rows);
      await settle();
    },
    text: () => screen.text(),
    offered: () =>
      admin.offers().filter(({ isOffered, shown }) => isOffered && shown !== null).map(({ shown, label }) =>
        `${shown} ${label}`
      ),
    until: (want) => wait(() => shows(want), `The screen never showed ${want}:`),
    untilGone: (want) => wait(() => !shows(want), `The screen went on showing ${want}:`),
    async close() {
      // Twice, because the first one only warns while the server is being asked to do something.
      terminal.send("\x03");
      terminal.send("\x03");
      const how = await ended;
      await session.close();
      // The drawing library's throttle leaves a timer of a thirtieth of a second behind, which does nothing any more.
      await new Promise((resolve) => setTimeout(resolve, 50));
      checkWhole(terminal);
      return how;
    },
    ended,
  };
  return fake;
}

/** Fails when the terminal was not given back as it was. */
export function checkWhole({ screen, isRaw }: Pick<FakeTerminal, "screen" | "isRaw">): void {
  const left = [
    ...(screen.isAlternate ? ["the alternate screen is on"] : []),
    ...(screen.isCursorShown ? [] : ["the cursor is hidden"]),
    ...(screen.isPasteOn ? ["bracketed paste is on"] : []),
    ...(isRaw ? ["raw mode is on"] : []),
  ];
  if (left.length > 0) throw new Error(`The terminal is not whole: ${left.join(", ")}`);
}

/** Runs `use` with an admin that is left at the end. */
export async function withAdmin(
  world: World,
  options: FakeAdminOptions,
  use: (admin: FakeAdmin) => Promise<void>,
): Promise<void> {
  const admin = await startFakeAdmin(world, options);
  try {
    await use(admin);
  } finally {
    await admin.close();
  }
}
