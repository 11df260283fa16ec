/** An upload form is bounded as a whole, not only the file in it. */
import assert from "node:assert/strict";
import { cellOf, fileForm, needsPods, noTemporaries, withFiles } from "./support.ts";

const LIMIT = 1_000_000;
/** Far more than any form may have, so that a server that reads on is seen. */
const ENDLESS = 20_000_000;

/** A body that begins with `head` and goes on with `x`; `sent` counts. */
function longBody(head: string) {
  const encoder = new TextEncoder();
  const state = { sent: 0 };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    pull(controller) {
      if (state.sent >= ENDLESS) return controller.close();
      state.sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x78));
    },
  }, { highWaterMark: 0 });
  return { body, state };
}

Deno.test("an upload form is refused once more came than a file and its form can have", needsPods, async () => {
  await withFiles(async ({ send, volume }) => {
    const heads = {
      "before the first part": "preamble ",
      "in a field of no meaning": '--b\r\nContent-Disposition: form-data; name="other"\r\n\r\n',
      "in a file of no meaning": '--b\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\n',
      "in the file": '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    };
    for (const [where, head] of Object.entries(heads)) {
      const { body, state } = longBody(head);
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const answer = await send("POST", "upload", { body, headers });
      assert.equal(await cellOf(answer), "413 too_large", where);
      assert(state.sent < 2 * LIMIT, `${state.sent} bytes were taken ${where}`);
    }
    const whole = fileForm(new Uint8Array(LIMIT), "whole", { path: "/workspace" });
    assert.equal(await cellOf(await send("POST", "upload", { body: whole })), "200");
    assert.equal((await Deno.stat(`${volume}/whole`)).size, LIMIT);
    await noTemporaries(volume);
  }, { env: { ORGPODS_FILE_TRANSFER_LIMIT: String(LIMIT) } });
});
