/** The frame as the drawing library gets it. */
import assert from "node:assert/strict";
import { createFakeTerminal } from "../support/fake_terminal.ts";
import { line, span } from "../../admin/ui/text/line.ts";
// Loads the library as the program does it: its production build.
import "../support/fake_admin.ts";

Deno.test("Paint draws nothing for a frame that looks like the last, and draws one that does not", async () => {
  const { render } = await import("ink");
  const { createElement } = await import("react");
  const { Paint } = await import("../../admin/ui/terminal/paint.tsx");
  const frameOf = (text: string) => [line(span("pods", "strong")), line(text)];
  const listeners = new Set<() => void>();
  const admin = {
    frame: frameOf("workshop"),
    onFrame(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  let drawn = 0;
  const { streams } = createFakeTerminal(40, 12);
  const instance = render(createElement(Paint, { admin }), {
    stdout: streams.stdout,
    interactive: true,
    alternateScreen: true,
    onRender: () => void drawn++,
  });
  const drawnFor = async (frame: typeof admin.frame) => {
    const before = drawn;
    admin.frame = frame;
    for (const listener of listeners) listener();
    await instance.waitUntilRenderFlush();
    return drawn - before;
  };
  try {
    await instance.waitUntilRenderFlush();
    assert.equal(await drawnFor(frameOf("workshop")), 0);
    assert.equal(await drawnFor(frameOf("lab")), 1);
    assert.equal(await drawnFor(frameOf("lab")), 0);
    assert.equal(await drawnFor([line("pods"), line("lab")]), 1, "another tone");
    assert.equal(await drawnFor([line("pods")]), 1, "a line less");
  } finally {
    instance.unmount();
    await instance.waitUntilExit();
    // The library's timer for its next frame, 34 ms, runs out by itself.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
