/** A plain stream around an accepted socket. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * ssh2's server pauses and resumes the socket it is given in a way that breaks reads above 64 KB on some Deno
 * versions; around a plain Duplex it works on all.
 */
export function socketStream(socket: Socket): Duplex {
  socket.setNoDelay(true);
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", (error) => stream.destroy(error));
  socket.on("close", () => stream.destroy());
  return Object.assign(stream, {
    setNoDelay: () => stream,
    remoteAddress: socket.remoteAddress,
    remotePort: socket.remotePort,
  });
}
