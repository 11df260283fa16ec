/** The peer of the certificates: OpenSSH's own `ssh-keygen -s`, one process for each. */

export interface KeygenFolder {
  /** Signs `count` certificates one after another, in each of `lanes` at the same time; returns certificates/s. */
  sign(count: number, lanes: number): Promise<number>;
}

/** Makes a CA and a member's key for each lane in `folder`. */
export async function createKeygenFolder(folder: string, lanes: number): Promise<KeygenFolder> {
  await Deno.mkdir(folder);
  await shell(`ssh-keygen -q -t ed25519 -N '' -C ca -f ca`, folder);
  for (let lane = 0; lane < lanes; lane++) {
    await shell(`mkdir ${lane} && ssh-keygen -q -t ed25519 -N '' -C member -f ${lane}/key`, folder);
  }
  return {
    async sign(count, lanes) {
      const options = "-I discord:200000000000000002:mo.member -n gf-0123456789abcd -V -5m:+12h " +
        "-O clear -O force-command='/usr/local/bin/godfather-login mo.member' -O permit-pty";
      // A plain shell starts the processes, because nothing starts them for less.
      const loop = (lane: number) =>
        `i=1; while [ $i -le ${count} ]; do ssh-keygen -q -s ca ${options} -z $i ${lane}/key.pub || exit 1; i=$((i+1)); done`;
      const begun = performance.now();
      await Promise.all(Array.from({ length: lanes }, (_, lane) => shell(loop(lane), folder)));
      return count * lanes / (performance.now() - begun) * 1000;
    },
  };
}

async function shell(script: string, cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", { args: ["-c", script], cwd, stderr: "piped" }).output();
  if (!success) throw new Error(`ssh-keygen failed: ${new TextDecoder().decode(stderr)}`);
}
