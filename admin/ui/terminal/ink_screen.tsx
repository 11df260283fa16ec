/** Ink's part: frames with their colours, of which only what changed is sent. Heavy to load: import it late. */
import { render } from "ink";
import type { Admin } from "../core/admin.ts";
import { createInkStdout } from "./ink_stdout.ts";
import { Paint, type Suspend } from "./paint.tsx";
import { EMPTY_SCREEN } from "./plain_screen.ts";
import type { Streams } from "./streams.ts";

/** What draws the admin's frames. */
export interface Screen {
  readonly suspend: Suspend;
  resize(columns: number, rows: number): void;
  /** Gives the terminal back. */
  close(): Promise<void>;
}

/** Draws on the alternate screen, which is on already with a plain frame on it; at the end it is left. */
export function openInkScreen(
  admin: Admin,
  output: Streams["stdout"],
  size: { readonly columns: number; readonly rows: number },
): Screen {
  const ready = Promise.withResolvers<Suspend>();
  const paint = <Paint admin={admin} onReady={ready.resolve} />;
  const stdout = createInkStdout(output, size, admin.painted);
  const instance = render(paint, {
    stdout: stdout.stream,
    alternateScreen: true,
    incrementalRendering: true,
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: true,
  });
  return {
    suspend: async (work) => await (await ready.promise)(work),
    resize(columns, rows) {
      // Ink forgets what it drew, the screen is emptied, and the frame of the new size is there before Ink looks.
      stdout.muted(() => {
        instance.clear();
        instance.rerender(paint);
        instance.clear();
      });
      output.write(EMPTY_SCREEN);
      stdout.resize(columns, rows);
    },
    async close() {
      instance.unmount();
      await instance.waitUntilExit();
    },
  };
}
