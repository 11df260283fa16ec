import type { Admin } from "../core/admin.ts";
import type { Screen } from "./ink_screen.tsx";
import { openPlainScreen } from "./plain_screen.ts";
import type { Streams } from "./run.ts";

/** So long after the first frame the drawing library is loaded: the first answers of the server are in by then. */
const LOAD_MS = 60;

/**
 * Shows the frames of the admin: at once, in plain text, and with colours as soon as the drawing library is there. What
 * keeps it from being loaded is given to `onCrash`.
 */
export function openScreen(
  admin: Admin,
  output: Streams["stdout"],
  onCrash: (error: unknown) => void,
): Screen & { readonly isPlain: boolean } {
  const plain = openPlainScreen(output);
  let ink: Screen | null = null;
  let isClosed = false;
  const draw = () => plain.draw(admin.frame);
  const stopDrawing = admin.onFrame(draw);
  draw();
  const load = async () => {
    const { openInkScreen } = await import("./ink_screen.tsx");
    if (isClosed) return;
    stopDrawing();
    plain.handOver();
    const { columns, rows } = admin.state;
    ink = openInkScreen(admin, output, { columns, rows });
  };
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => load().catch(onCrash).finally(resolve), LOAD_MS);
  return {
    get isPlain() {
      return ink === null;
    },
    async suspend(work) {
      await loaded;
      // Closed, or broken: then there is nothing to come back to.
      await ink?.suspend(work);
    },
    resize(columns, rows) {
      if (ink !== null) return ink.resize(columns, rows);
      plain.resize();
      draw();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      resolve();
      stopDrawing();
      if (ink === null) plain.close();
      else await ink.close();
    },
  };
}
