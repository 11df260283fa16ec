/**
 * Thrown in place of an answer, or by the body of one, when the connection is to be cut. A caller inside the process
 * gets it as a failed fetch; the listener closes the socket.
 */
export class ConnectionCut extends TypeError {
  override readonly name = "ConnectionCut";
  constructor() {
    super("The connection was cut.");
  }
}
