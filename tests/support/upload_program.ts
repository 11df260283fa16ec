/**
 * Sends a body of 3 MB to a server as `orgpods --server` sends files, and prints the answer, or `refused:` and why there is
 * none. Arguments: the server's address, and the token.
 */
import { connectRemote } from "../../admin/client/remote.ts";
import { Refusal } from "../../admin/client/refusal.ts";

const [url = "", token = ""] = Deno.args;
let left = 30;
const body = new ReadableStream<Uint8Array>({
  pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(100_000)) : controller.close(),
});
try {
  const headers = { "content-type": "application/octet-stream", "content-length": "3000000" };
  const request = new Request(`${url}/up`, { method: "PUT", body, headers });
  console.log(await (await connectRemote({ url, token }).fetch(request)).text());
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.log(`refused: ${error.message}`);
}
