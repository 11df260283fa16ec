/** Every file route under every fault of the link: the call settles with a clear error, and no old file is broken. */
import assert from "node:assert/strict";
import { until } from "../support/sshd.ts";
import { cell, cellOf, type FileScene, needsPods, noTemporaries, ok, withFiles } from "./support.ts";

const MB = 1_000_000;
/** Only a stall is ended by the limits. */
const SHORT = { connectMs: 3_000, callMs: 1_000, listMs: 1_000, stallMs: 1_000, commandMs: 1_500 };

/** Goes on until it fails; gives the answer of the failure. */
async function untilRefused(call: () => Promise<string>): Promise<string> {
  for (;;) {
    const answer = await call();
    if (answer !== "200") return answer;
  }
}

/** A body that never ends and is taken as fast as the pod takes it. */
const endless = (onChunk: () => void) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      onChunk();
      controller.enqueue(new Uint8Array(65_536));
    },
  }, { highWaterMark: 0 });

/** Strikes once the call is under way, and gives its outcome. */
type Call = (scene: FileScene, strike: () => void) => Promise<string>;

/** Reads a file that was asked for, and strikes when the first megabyte has come. */
async function received(answer: Response, strike: () => void): Promise<string> {
  assert.equal(answer.status, 200);
  let bytes = 0;
  try {
    for await (const chunk of answer.body!) {
      if (bytes < MB && bytes + chunk.length >= MB) strike();
      bytes += chunk.length;
    }
    return "all of it came";
  } catch (error) {
    assert.ok(error instanceof Error);
    return `cut: ${error.name}`;
  }
}

const again = (call: (scene: FileScene, turn: number) => Promise<string>): Call => async (scene, strike) => {
  let turn = 0;
  return await untilRefused(async () => {
    // In the middle of the third call.
    if (turn === 2) queueMicrotask(strike);
    return await call(scene, turn++);
  });
};

const CALLS: Readonly<Record<string, Call>> = {
  list: again(async ({ list }) => cell(await list("/workspace/many"))),
  read: again(async ({ files }) => cell(await files("read", { path: "/workspace/text" }))),
  write: again(async ({ files }, turn) =>
    cell(await files("write", { path: "/workspace/old", content: String(turn).repeat(200_000) }))
  ),
  rename: again(async ({ files }, turn) => {
    const names = ["/workspace/r0", "/workspace/r1"];
    return cell(await files("rename", { old_path: names[turn % 2], new_path: names[(turn + 1) % 2] }));
  }),
  mkdir: again(async ({ files }, turn) => cell(await files("mkdir", { path: `/workspace/d${turn}` }))),
  delete: again(async ({ files }, turn) => cell(await files("delete", { path: `/workspace/tree${turn}` }))),
  upload: async ({ send }, strike) => {
    let sent = 0;
    const body = endless(() => ++sent === 100 && strike());
    return await cellOf(await send("PUT", "upload?path=/workspace/old", { body }));
  },
  download: async ({ send }, strike) => await received(await send("GET", "download?path=/workspace/big"), strike),
  archive: async ({ send }, strike) => {
    const answer = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/big" }) });
    return await received(answer, strike);
  },
};

async function prepare({ exec }: FileScene): Promise<void> {
  const made = await exec(`cd /workspace && mkdir many && (cd many && seq 1 3000 | xargs touch) &&
    head -c 800000 /dev/zero | tr '\\0' x >text && printf old >old && head -c 20000000 /dev/urandom >big && touch r0 &&
    for n in 0 1 2 3 4; do mkdir -p tree$n/a && (cd tree$n/a && seq 1 300 | xargs touch); done`);
  assert.equal(made.exitCode, 0, new TextDecoder().decode(made.stderr));
}

/** One call under one fault. */
async function strikeDuring(name: string, scene: FileScene, strike: () => void): Promise<void> {
  const outcome = await CALLS[name]!(scene, strike);
  if (name === "download" || name === "archive") assert.match(outcome, /^cut: (SftpError|AppError)$/);
  // A call that begins just after the blow cannot connect any more where the link stays dead.
  else assert.match(outcome, /^502 (pod_command_failed|pod_unreachable)$/);
  // Whole in any case: as it was, or as one of the writes left it.
  const old = await Deno.readTextFile(`${scene.volume}/old`);
  assert.ok(old === "old" || /^(\d)\1{199999}$/.test(old), `${old.length} bytes`);
}

for (const [fault, proxy] of [["close", "ending"], ["reset", "resetting"]] as const) {
  Deno.test(
    `every file route settles when the link suffers a ${fault}, and works again after it`,
    needsPods,
    async (t) => {
      await withFiles(async (scene) => {
        await prepare(scene);
        for (const name of Object.keys(CALLS)) {
          await t.step(name, async () => {
            await strikeDuring(name, scene, scene.link.cut);
            ok(await scene.files("write", { path: "/workspace/next", content: name }));
            await until(async () => (await scene.exec("pgrep -x tar")).exitCode === 1, "nothing works on for nobody");
            await noTemporaries(scene.volume);
          });
        }
      }, { proxy });
    },
  );
}

for (const name of Object.keys(CALLS)) {
  Deno.test(`${name} settles when the link stalls`, needsPods, async () => {
    await withFiles(async (scene) => {
      await prepare(scene);
      await strikeDuring(name, scene, scene.link.stall);
    }, { proxy: "ending", fileTimings: SHORT });
  });
}
