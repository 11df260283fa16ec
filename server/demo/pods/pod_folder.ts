/** The folder a pod has on this machine: the image's files, its environment, the scripts that start it, its volume. */
import { join } from "node:path";
import { BUILD_ROOT, DROP_PRIVILEGES, SUPERVISE } from "./container_scripts.ts";
import type { PodSpec } from "./host.ts";
import { imageFiles, type ImageFlavour, writeImage } from "./image_files.ts";
import { podEnvironment } from "./pod_spec.ts";

/** The paths in a pod's folder. */
export interface PodFolder {
  /** The image's files, laid out as in the pod. */
  readonly image: string;
  /** NAME=value pairs, each ended by NUL: the environment of the start script. */
  readonly environment: string;
  /** What becomes `/workspace`. */
  readonly volume: string;
  /** An empty folder; the pod's root is built over it, seen by the container alone. */
  readonly root: string;
  readonly supervise: string;
  readonly buildRoot: string;
  readonly dropPrivileges: string;
}

function pathsIn(base: string): PodFolder {
  return {
    image: join(base, "image"),
    environment: join(base, "environment"),
    volume: join(base, "workspace"),
    root: join(base, "root"),
    supervise: join(base, "supervise.sh"),
    buildRoot: join(base, "build-root.sh"),
    dropPrivileges: join(base, "drop-privileges.sh"),
  };
}

/** Writes everything a start needs under `base` (0700); a volume that is there stays as it is. */
export async function preparePodFolder(
  base: string,
  pod: PodSpec,
  flavour: ImageFlavour,
  port: number,
): Promise<PodFolder> {
  const paths = pathsIn(base);
  await removeTree(paths.image);
  await Deno.mkdir(base, { recursive: true, mode: 0o700 });
  for (const path of [paths.image, paths.root]) await Deno.mkdir(path, { recursive: true });
  // Members go through it into their own folders.
  makeFolder(paths.volume, 0o755);
  await writeImage(paths.image, await imageFiles(flavour, pod.id, port));
  const pairs = Object.entries(podEnvironment(pod)).map(([name, value]) => `${name}=${value}\0`);
  await Deno.writeTextFile(paths.environment, pairs.join(""), { mode: 0o600 });
  await Deno.writeTextFile(paths.supervise, SUPERVISE);
  await Deno.writeTextFile(paths.buildRoot, BUILD_ROOT);
  await Deno.writeTextFile(paths.dropPrivileges, DROP_PRIVILEGES);
  return paths;
}

/** Deletes what a start wrote; the volume is all that stays. */
export async function keepOnlyVolume(base: string): Promise<void> {
  const paths = pathsIn(base);
  for (const path of Object.values(paths)) {
    if (path !== paths.volume) await removeTree(path);
  }
}

/** Makes a folder with this mode whatever the umask is; false when it was there already, and then it stays as it is. */
export function makeFolder(path: string, mode: number): boolean {
  try {
    Deno.mkdirSync(path, { mode });
    Deno.chmodSync(path, mode);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

/** Deletes a file or folder with all that is in it, following no links; fine when it is not there. */
export async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
