import { issueCertificate, randomSerial } from "../server/ssh/certificate.ts";
import { generateKeyPair, publicLine } from "../server/ssh/private_key.ts";
import { parsePublicKey, type SubjectKey } from "../server/ssh/public_key.ts";
import { type Signer, signerOf } from "../server/ssh/signer.ts";
import { type Figure, ratioFigure } from "./figures.ts";
import { load, type LoadPlan, requestText } from "./load.ts";
import { alternate, median, medianRatio } from "./rounds.ts";
import { createKeygenFolder } from "./ssh_keygen.ts";
import { type BenchWorld, stop } from "./world.ts";

const ROUNDS = 5;
const PROCESSES = 100;
/** A class: each sends the same key of their own at each connect. */
const MEMBERS = 30;

/** `POST …/connect` over TCP, and certificates alone, against `ssh-keygen -s` processes. */
export async function benchConnect(world: BenchWorld): Promise<Figure[]> {
  const cores = navigator.hardwareConcurrency;
  const keygen = await createKeygenFolder(`${world.folder}/keygen`, cores);
  const lines = Array.from({ length: MEMBERS }, () => publicLine(generateKeyPair().publicKey, ""));
  const path = `/api/compute/${world.org}/me/pods/${world.podIds[0]}/connect`;
  const server = await world.startServer();
  try {
    const plan: LoadPlan = {
      port: Number(new URL(server.url).port),
      connections: MEMBERS,
      warmUpMs: 500,
      measureMs: 2_000,
      requests: lines.map((line) => requestText("POST", path, world.memberToken, { public_key: line })),
    };
    await load(plan, server.program.pid);
    const runs = await alternate(ROUNDS, {
      connect: async () => (await load(plan, server.program.pid)).perSecond,
      certificates: () => Promise.resolve(certificatesPerSecond(lines, 500)),
      keygen: () => keygen.sign(PROCESSES, 1),
      keygenOnAllCores: () => keygen.sign(PROCESSES, cores),
    });
    const figure = (
      name: "connect" | "certificates",
      peer: "keygen" | "keygenOnAllCores",
      atLeast?: number,
      note?: string,
    ) =>
      ratioFigure(
        {
          figure: name,
          value: median(runs[name]),
          unit: name === "connect" ? "requests/s" : "per second",
          peer: peer === "keygen" ? "ssh-keygen -s, one by one" : `ssh-keygen -s, ${cores} at once`,
          peerValue: median(runs[peer]),
          ...(note === undefined ? {} : { note }),
        },
        medianRatio(runs[name], runs[peer]),
        atLeast,
      );
    return [
      figure(
        "connect",
        "keygen",
        10,
        `${ROUNDS} rounds; ${MEMBERS} connections with a key each, one pod; stored and audited, synchronous=FULL.`,
      ),
      figure("connect", "keygenOnAllCores"),
      figure("certificates", "keygen", undefined, "the key read and checked, the certificate signed and read back."),
    ];
  } finally {
    await stop(server.program);
    await server.close();
  }
}

/** Key lines to certificates in this process, for about `ms`. */
function certificatesPerSecond(lines: readonly string[], ms: number): number {
  const ca = signerOf(generateKeyPair());
  let made = 0;
  const begun = performance.now();
  while (performance.now() - begun < ms) {
    certify(parsePublicKey(lines[made % lines.length]!), ca);
    made++;
  }
  return made / (performance.now() - begun) * 1000;
}

function certify(key: SubjectKey, ca: Signer): void {
  issueCertificate(key, {
    serial: randomSerial(),
    keyId: "discord:200000000000000002:mo.member",
    principals: ["gf-0123456789abcd"],
    validAfter: 1_800_000_000,
    validBefore: 1_800_043_500,
    forceCommand: "/usr/local/bin/godfather-login mo.member",
    extensions: ["permit-pty"],
  }, ca);
}
