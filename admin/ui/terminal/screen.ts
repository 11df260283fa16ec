import type { Admin } from "../core/admin.ts";
import type { Screen } from "./ink_screen.tsx";
import { openPlainScreen } from "./plain_screen.ts";
import type { Streams } from "./streams.ts";

/** The longest wait for the first answers of the server before the drawing library is loaded. */
const LOAD_MS = 300;

/**
 * Shows the frames of the admin: at once, in plain text, and with colours as soon as the drawing library is there. It is
 * loaded once the first answers of the server are drawn, because nothing else goes on meanwhile. What keeps it from being
 * loaded is given to `onCrash`.
 */
export function openScreen(
  admin: Admin,
  output: Streams["stdout"],
  onCrash: (error: unknown) => void,
): Screen & { readonly isPlain: boolean } {
  const plain = openPlainScreen(output);
  const loaded = Promise.withResolvers<void>();
  let ink: Screen | null = null;
  let isClosed = false;
  let isBegun = false;
  const load = async () => {
    if (isBegun || isClosed) return;
    isBegun = true;
    clearTimeout(timer);
    try {
      const { openInkScreen } = await import("./ink_screen.tsx");
      if (isClosed) return;
      stopDrawing();
      const { columns, rows } = admin.state;
      ink = openInkScreen(admin, output, { columns, rows });
    } catch (error) {
      onCrash(error);
    } finally {
      loaded.resolve();
    }
  };
  const timer = setTimeout(load, LOAD_MS);
  const draw = () => {
    plain.draw(admin.frame);
    admin.painted();
    if (!admin.isLoading) load();
  };
  const stopDrawing = admin.onFrame(draw);
  plain.draw(admin.frame);
  return {
    get isPlain() {
      return ink === null;
    },
    async suspend(work) {
      await loaded.promise;
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
      loaded.resolve();
      stopDrawing();
      if (ink === null) plain.close();
      else await ink.close();
    },
  };
}
