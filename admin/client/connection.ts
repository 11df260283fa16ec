/** A way to an orgpods server for the clients of its API. */
export interface Connection {
  /** What stands before the path of every request: an origin. */
  readonly baseUrl: string;
  /** True on the server itself, where every request is the operator's. */
  readonly isOperator: boolean;
  /** True when no server runs and the App is in this process: then nothing is scheduled. */
  readonly isOwnProcess?: boolean;
  /** Sends one request. Throws `Refusal` when no answer comes. */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}
