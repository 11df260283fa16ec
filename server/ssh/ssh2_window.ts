/**
 * A larger receive window for an ssh2 channel. ssh2's is 2 MiB and is opened again only when half of it is used, which
 * limits a download to about 12 MB/s at a round trip of 80 ms. There is no public way: this uses fields of the pinned
 * ssh2 version and leaves the channel alone where they are missing.
 */
// @ts-types="npm:@types/ssh2@1.15.6"
import type { ClientChannel } from "ssh2";

interface Internals {
  readonly incoming?: { window?: number };
  readonly outgoing?: { readonly id?: number; readonly state?: string };
  readonly _client?: { readonly _protocol?: { channelWindowAdjust?(channel: number, bytes: number): void } };
}

/**
 * Opens the window to `bytes` now and again whenever an eighth of it is used. For a channel whose `data` events are
 * always taken at once: nothing else bounds what the other side may send ahead. ssh2 then never adjusts it itself.
 */
export function widenWindow(channel: ClientChannel, bytes: number): void {
  const { incoming, outgoing, _client: client } = channel as unknown as Internals;
  const protocol = client?._protocol;
  if (!incoming || !outgoing || !protocol?.channelWindowAdjust) return;
  const adjust = () => {
    const { window } = incoming;
    if (window === undefined || outgoing.id === undefined || outgoing.state !== "open") return;
    if (window > bytes - bytes / 8) return;
    incoming.window = bytes;
    protocol.channelWindowAdjust?.(outgoing.id, bytes - window);
  };
  adjust();
  channel.on("data", adjust);
}
