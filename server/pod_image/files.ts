/**
 * The files of our pod image, read from `pod-image/rootfs`: what a pod of that image has, and what is put onto pods of other
 * images. A compiled program carries them inside (compile.sh, `--include`).
 */

/** One file of the image. */
export interface PodImageFile {
  /** Where it stands in the pod, without the leading slash. */
  readonly path: string;
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

const ROOTFS = new URL("../../pod-image/rootfs/", import.meta.url);

/** The modes are stated here: those of a checkout depend on a umask. Every file is root's. */
const MODES: Readonly<Record<string, number>> = {
  "etc/godfather/admin.bashrc": 0o644,
  "etc/godfather/orgpods-image": 0o644,
  "etc/godfather/user.bashrc": 0o644,
  "etc/profile.d/zz-godfather-cuda.sh": 0o644,
  "etc/ssh/sshd_config.d/godfather.conf": 0o644,
  "start.sh": 0o755,
  "usr/lib/godfather/principals": 0o755,
  "usr/local/bin/godfather-jupyter": 0o755,
  "usr/local/bin/godfather-login": 0o755,
};

/** Reads all files, in the order of their paths. */
export async function podImageFiles(): Promise<PodImageFile[]> {
  return await Promise.all(
    Object.entries(MODES).map(async ([path, mode]) => ({
      path,
      text: await Deno.readTextFile(new URL(path, ROOTFS)),
      mode,
    })),
  );
}
