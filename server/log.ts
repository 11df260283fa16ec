/** The operator's log: one line of JSON per event on stderr. Secrets are never handed to it. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** What can be said of a thrown value: name, message, stack and causes, as plain data for a log line. */
export function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...(error.stack && depth === 0 ? { stack: error.stack } : {}),
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

/** Writes log lines with `write`, stamped by `now`. */
export function createLog(write: (line: string) => void, now: () => number): Log {
  const line = (level: string) => (message: string, fields: Record<string, unknown> = {}) =>
    write(JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields }));
  return { info: line("info"), warn: line("warn"), error: line("error") };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
