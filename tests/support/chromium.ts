/** A headless Chromium, driven by the DevTools protocol over its WebSocket. */

const DEADLINE_MS = 60_000;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-port=0",
];

export interface Chromium {
  /** A tab with cookies of its own. */
  newTab(): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  /** Opens an address and waits until the page it ends at has loaded. */
  goto(url: string): Promise<void>;
  /** The value of a JavaScript expression in the page, awaited; it must be JSON. */
  evaluate<T>(expression: string): Promise<T>;
  /** Runs an expression that leaves the page, such as a click, and waits until the next page has loaded. */
  leave(expression: string): Promise<void>;
  /** Address of the page that is shown. */
  url(): Promise<string>;
  /** What the browser itself complained about since the last call: broken policies, errors of scripts. */
  takeComplaints(): string[];
}

type Params = Record<string, unknown>;
interface Message {
  readonly id?: number;
  readonly result?: Params;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: Params;
  readonly sessionId?: string;
}

/** Waits for `promise`, at most as long as anything here may take. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Chromium took too long: ${what}`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One WebSocket that carries the calls and events of all tabs. */
async function connect(address: string) {
  const socket = new WebSocket(address);
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const calls = new Map<number, PromiseWithResolvers<Params>>();
  const listeners = new Set<(message: Message) => void>();
  let last = 0;
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error(`Chromium refused the connection to ${address}`));
  socket.onclose = () => {
    closed.resolve();
    for (const call of calls.values()) call.reject(new Error("Chromium closed the connection"));
  };
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data) as Message;
    const call = message.id === undefined ? undefined : calls.get(message.id);
    if (call === undefined) return listeners.forEach((listener) => listener(message));
    calls.delete(message.id!);
    if (message.error !== undefined) call.reject(new Error(message.error.message));
    else call.resolve(message.result ?? {});
  };
  await within(opened.promise, "connecting");
  return {
    closed: closed.promise,
    listen: (listener: (message: Message) => void) => void listeners.add(listener),
    call(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
      const id = ++last;
      const answer = Promise.withResolvers<Params>();
      calls.set(id, answer);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      return within(answer.promise, method);
    },
  };
}

type Connection = Awaited<ReturnType<typeof connect>>;

async function openTab(connection: Connection): Promise<Tab> {
  const { browserContextId } = await connection.call("Target.createBrowserContext");
  const { targetId } = await connection.call("Target.createTarget", { url: "about:blank", browserContextId });
  const attached = await connection.call("Target.attachToTarget", { targetId, flatten: true });
  const sessionId = attached.sessionId as string;
  const call = (method: string, params: Params = {}) => connection.call(method, params, sessionId);
  const complaints: string[] = [];
  let loaded = Promise.withResolvers<void>();
  connection.listen(({ method, params = {}, sessionId: from }) => {
    if (from !== sessionId) return;
    if (method === "Page.loadEventFired") loaded.resolve();
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params.exceptionDetails));
    if (method === "Log.entryAdded") {
      const entry = params.entry as { level: string; text: string; source: string };
      if (entry.level === "error" && entry.source !== "network") complaints.push(entry.text);
    }
  });
  for (const domain of ["Page", "Runtime", "Log"]) await call(`${domain}.enable`);

  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`In the page: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  };
  const untilLoaded = async (what: string, begin: () => Promise<unknown>) => {
    loaded = Promise.withResolvers();
    await begin();
    await within(loaded.promise, what);
  };
  return {
    evaluate,
    goto: (url) =>
      untilLoaded(url, async () => {
        const { errorText } = await call("Page.navigate", { url });
        if (errorText !== undefined) throw new Error(`Chromium cannot open ${url}: ${errorText}`);
      }),
    leave: (expression) => untilLoaded(expression, () => evaluate(expression)),
    url: () => evaluate("location.href"),
    takeComplaints: () => complaints.splice(0),
  };
}

/** Reads stderr to its end; resolves with the address of the DevTools as soon as it is printed. */
function watchOutput(stderr: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const address = Promise.withResolvers<string>();
  const ended = (async () => {
    let text = "";
    for await (const part of stderr.pipeThrough(new TextDecoderStream())) {
      text = (text + part).slice(-20_000);
      const found = /DevTools listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (found !== undefined) address.resolve(found);
    }
    address.reject(new Error(`Chromium ended: ${text.slice(-2_000)}`));
  })();
  return { address: address.promise, ended };
}

async function removeProfile(folder: string): Promise<void> {
  // A child process of the browser may still be writing its last file.
  for (let tries = 0;; tries++) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (tries === 50 || !(error instanceof Error && /not empty|os error 39/i.test(error.message))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Starts Chromium with a fresh profile. The caller closes it. */
export async function startChromium(): Promise<Chromium> {
  const profile = await Deno.makeTempDir({ prefix: "orgpods-chromium-" });
  const child = new Deno.Command("chromium", {
    args: [...FLAGS, `--user-data-dir=${profile}`, "about:blank"],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const output = watchOutput(child.stderr);
  output.address.catch(() => {}); // Waited for below.
  const end = async () => {
    await child.status;
    await output.ended;
    await removeProfile(profile);
  };
  try {
    const connection = await connect(await within(output.address, "starting"));
    return {
      newTab: () => openTab(connection),
      async close() {
        await connection.call("Browser.close");
        await within(connection.closed, "closing");
        await end();
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await end();
    throw error;
  }
}
