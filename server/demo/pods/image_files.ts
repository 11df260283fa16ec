/** The files that make up the two kinds of image a test pod can be started from, and writing them to a folder. */
import { dirname, join } from "node:path";
import { podImageFiles } from "../../pod_image/files.ts";
import { etcFiles, type ImageFile } from "./etc_files.ts";
import { ORIGINAL_IMAGE } from "./original_image.ts";

/** `orgpods`: our own image. `original`: the image the contract was written for, with its faults. */
export type ImageFlavour = "orgpods" | "original";

/** Every file of an image. `port`: where this start's sshd listens on 127.0.0.1. */
export async function imageFiles(flavour: ImageFlavour, hostname: string, port: number): Promise<ImageFile[]> {
  const own = flavour === "orgpods" ? await podImageFiles() : ORIGINAL_IMAGE;
  return [...etcFiles(hostname, port), ...own];
}

/** Writes the files under `folder`, with their modes whatever the umask is. */
export async function writeImage(folder: string, files: readonly ImageFile[]): Promise<void> {
  for (const file of files) {
    const path = join(folder, file.path);
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await Deno.writeTextFile(path, file.text);
    await Deno.chmod(path, file.mode);
  }
}
