import { generateKeyPair, publicLine } from "../server/ssh/private_key.ts";
import { parseKrl, writeKrl } from "../server/ssh/krl.ts";
import { parsePublicKey } from "../server/ssh/public_key.ts";
import { randomSerial } from "../server/ssh/certificate.ts";
import { type Figure, ratioFigure } from "./figures.ts";
import { alternate, median, medianRatio } from "./rounds.ts";

const ROUNDS = 15;
const SERIALS = 10_000;

/** A key revocation list of 10,000 random serials: written, and judged, by us and by OpenSSH. */
export async function benchKrl(): Promise<Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-bench-krl-" });
  try {
    return await measure(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(folder: string): Promise<Figure[]> {
  const line = publicLine(generateKeyPair().publicKey, "ca");
  const ca = parsePublicKey(line);
  const serials = Array.from({ length: SERIALS }, randomSerial);
  await Deno.writeTextFile(`${folder}/ca.pub`, `${line}\n`);
  await Deno.writeTextFile(`${folder}/serials`, serials.map((serial) => `serial: ${serial}\n`).join(""));
  await Deno.writeTextFile(`${folder}/key.pub`, `${publicLine(generateKeyPair().publicKey, "key")}\n`);

  const write = () => writeKrl({ version: 1n, generatedAt: 1_800_000_000, comment: "", revoked: [{ ca, serials }] });
  const writing = await alternate(ROUNDS, {
    ours: () => took(write),
    keygen: () => took(() => keygen(folder, "-k", "-f", "theirs", "-s", "ca.pub", "serials")),
  });
  const krl = write();
  await Deno.writeFile(`${folder}/ours`, krl);
  const judging = await alternate(ROUNDS, {
    ours: () => took(() => parseKrl(krl)),
    keygen: () => took(() => keygen(folder, "-Q", "-f", "ours", "key.pub")),
  });
  const size = { ours: krl.length, keygen: (await Deno.stat(`${folder}/theirs`)).size };
  const figure = (
    name: string,
    peer: string,
    ms: { readonly ours: number[]; readonly keygen: number[] },
    note: string,
  ) =>
    ratioFigure(
      { figure: name, value: median(ms.ours), unit: "ms", peer, peerValue: median(ms.keygen), note },
      medianRatio(ms.keygen, ms.ours),
    );
  return [
    figure(
      "list of 10,000 revoked serials, written",
      "`ssh-keygen -k`",
      writing,
      `${ROUNDS} rounds; read back and compared as well. ${size.ours} bytes, ${size.keygen} by ssh-keygen.`,
    ),
    figure(
      "the same list, judged",
      "`ssh-keygen -Q`",
      judging,
      "What sshd does at each login: our reader in the program, a process of ssh-keygen on our list.",
    ),
  ];
}

async function took(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function keygen(cwd: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("ssh-keygen", { args, cwd, stdout: "null" }).output();
  if (!success) throw new Error(`ssh-keygen failed: ${new TextDecoder().decode(stderr)}`);
}
