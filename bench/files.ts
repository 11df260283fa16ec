import type { Server } from "../tests/support/server_process.ts";
import { newKey, publicLineOf, saveCertificate } from "../tests/support/ssh_client.ts";
import { ROUND_TRIP } from "./far_pods.ts";
import { curl, must, onPod, type PeerTarget, scp, type SftpProgram, startSftp } from "./file_peers.ts";
import { type Figure, ratioFigure } from "./figures.ts";
import { peakMegabytes } from "./processes.ts";
import { officerCliToken } from "./logins.ts";
import { alternate, median, medianRatio } from "./rounds.ts";
import { addPod, type BenchWorld, stop } from "./world.ts";

const MB = 1_000_000;
const SIZE = 100 * MB;
const LARGE = 2_000 * MB;
const FAR_MS = 80;
const ENTRIES = 10_000;
const GOAL_RATIO = 0.8;
const GOAL_MB = 20;
const GOAL_MS = 200;
/** Where the bench works on the pod: root's own, so that nothing is done as somebody else. */
const FOLDER = "/workspace/bench";

/** A pod to move files to and from, and the programs that do. */
interface Place {
  readonly target: PeerTarget;
  readonly sftp: SftpProgram;
  /** Address of a file route with the path of a file in the bench's folder on the pod. */
  route(name: string, file: string): string;
}

/**
 * Files of pods through the API, by `curl`, against OpenSSH's `sftp` and `scp` on the same sshd: near and 80 ms away. Then
 * the memory of the server and a long listing.
 */
export async function benchFiles(world: BenchWorld): Promise<Figure[]> {
  await must("dd", [
    "if=/dev/urandom",
    `of=${world.folder}/content`,
    "bs=1000000",
    `count=${SIZE / MB}`,
    "status=none",
  ]);
  const [figures, near] = await withServer<[Figure[], Place]>(world, {}, async (server) => {
    const farId = await addPod(server, world.org, {
      name: "far",
      use_cpu_only: true,
      env: { [ROUND_TRIP]: String(FAR_MS) },
    });
    const near = await placeOn(world, server, world.podIds[0]!);
    const far = await placeOn(world, server, farId);
    try {
      const figures = [
        ...await benchTransfers(world, near, { rounds: 7, where: "" }),
        ...await benchTransfers(world, far, { rounds: 3, where: `, ${FAR_MS} ms` }),
        await benchListing(world, near),
      ];
      return [figures, near];
    } finally {
      await near.sftp.close();
      await far.sftp.close();
    }
  });
  return [...figures, await benchPeak(world, near)];
}

async function withServer<T>(
  world: BenchWorld,
  settings: Readonly<Record<string, string>>,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await world.startServer(settings);
  try {
    return await use(server);
  } finally {
    await stop(server.program);
    await server.close();
  }
}

async function placeOn(world: BenchWorld, server: Server, id: string): Promise<Place> {
  const key = await newKey(world.folder, `key-${id}`);
  const reply = await server.call("POST", `/api/compute/${world.org}/me/pods/${id}/connect`, {
    token: await officerCliToken(world, server),
    body: { public_key: await publicLineOf(key) },
  });
  if (reply.status !== 200) throw new Error(`No certificate: ${reply.text}`);
  await saveCertificate(key, reply.json.ssh_info.certificate);
  const target: PeerTarget = { at: reply.json.ssh_info, key };
  await onPod(target, `mkdir -p ${FOLDER} && head -c ${SIZE} /dev/urandom > ${FOLDER}/content`);
  const base = `${server.url}/api/compute/${world.org}/pods/${id}/files`;
  return {
    target,
    sftp: await startSftp(target),
    route: (name, file) => `${base}${name}?path=${encodeURIComponent(`${FOLDER}${file}`)}`,
  };
}

async function benchTransfers(
  world: BenchWorld,
  { target, sftp, route }: Place,
  { rounds, where }: { readonly rounds: number; readonly where: string },
): Promise<Figure[]> {
  const [local, taken] = [`${world.folder}/content`, `${world.folder}/taken`];
  const remote = `${FOLDER}/content`;
  const ours = {
    down: () => curl(world.officerToken, ["-o", taken, route("/download", "/content")]),
    up: () => curl(world.officerToken, ["-T", local, route("/upload", "/ours")]),
  };
  // The server's connection to the pod is kept, as sftp's is here; the first use makes it.
  await ours.down();
  const speeds = async (sides: Record<"ours" | "sftp" | "scp", () => Promise<number>>) => {
    const times = await alternate(rounds, sides);
    const perSecond = (all: readonly number[]) => all.map((ms) => SIZE / MB / ms * 1_000);
    return { ours: perSecond(times.ours), sftp: perSecond(times.sftp), scp: perSecond(times.scp) };
  };
  const down = await speeds({
    ours: ours.down,
    sftp: () => sftp.time(`get ${remote} ${taken}`),
    scp: () => scp(target, `pod:${remote}`, taken),
  });
  // -f: flushed to the pod's disk, as the server does it.
  const up = await speeds({
    ours: ours.up,
    sftp: () => sftp.time(`put -f ${local} ${FOLDER}/theirs`),
    scp: () => scp(target, local, `pod:${FOLDER}/theirs`),
  });
  const figures = (what: string, all: typeof down, note: string) =>
    (["sftp", "scp"] as const).map((peer) =>
      ratioFigure(
        {
          figure: `${what}${where}`,
          value: median(all.ours),
          unit: "MB/s",
          peer: peer === "sftp" ? "sftp, logged in" : "scp, with its login",
          peerValue: median(all[peer]),
          ...(peer === "sftp" ? { note: `${rounds} rounds of ${SIZE / MB} MB ${note}` } : {}),
        },
        medianRatio(all.ours, all[peer]),
        peer === "sftp" ? GOAL_RATIO : undefined,
      )
    );
  return [
    ...figures("download", down, "from the pod through the server to curl."),
    ...figures("upload", up, "from curl through the server to the pod; both flush to disk (scp does not)."),
  ];
}

async function benchListing(world: BenchWorld, { target, sftp, route }: Place): Promise<Figure> {
  await onPod(target, `mkdir -p ${FOLDER}/many && cd ${FOLDER}/many && seq -f entry-%05g ${ENTRIES} | xargs touch`);
  const list = () => curl(world.officerToken, ["-o", "/dev/null", `${route("", "/many")}&limit=${ENTRIES}`]);
  await list();
  const runs = await alternate(7, { ours: list, sftp: () => sftp.time(`ls -n ${FOLDER}/many`) });
  const value = median(runs.ours);
  return {
    figure: `list of ${ENTRIES.toLocaleString("en")}`,
    value,
    unit: "ms",
    peer: "sftp ls -n",
    peerValue: median(runs.sftp),
    compared: { how: "value", value },
    goal: { text: `under ${GOAL_MS} ms`, met: value < GOAL_MS },
  };
}

/** Peak memory of a server that does nothing but one download of 2 GB, against one of 100 MB. */
async function benchPeak(world: BenchWorld, { target, route }: Place): Promise<Figure> {
  await onPod(target, `truncate -s ${LARGE} ${FOLDER}/large`);
  const settings = { ORGPODS_FILE_TRANSFER_LIMIT: String(LARGE) };
  const peakOf = (file: string) =>
    withServer(world, settings, async (server) => {
      const { pathname, search } = new URL(route("/download", file));
      await curl(world.officerToken, ["-o", "/dev/null", server.url + pathname + search]);
      return peakMegabytes(server.program.pid);
    });
  const runs = await alternate(3, { large: () => peakOf("/large"), small: () => peakOf("/content") });
  const difference = median(runs.large.map((mb, round) => mb - runs.small[round]!));
  return {
    figure: `peak memory, download of ${LARGE / MB / 1_000} GB`,
    value: median(runs.large),
    unit: "MB",
    peer: `download of ${SIZE / MB} MB`,
    peerValue: median(runs.small),
    compared: { how: "difference", value: difference },
    goal: { text: `at most +${GOAL_MB} MB`, met: difference <= GOAL_MB },
    note: "each by a server of its own; VmHWM, 3 rounds.",
  };
}
