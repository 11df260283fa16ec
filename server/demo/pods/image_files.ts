/** The files that make up the two kinds of image a test pod can be started from, and writing them to a folder. */
import { dirname, join } from "node:path";
import { etcFiles, type ImageFile } from "./etc_files.ts";
import { ORGPODS_LOGIN, ORIGINAL_LOGIN } from "./login_program.ts";
import { ADMIN_BASHRC, USER_BASHRC } from "./rc_files.ts";
import { ORGPODS_START, ORIGINAL_START } from "./start_script.ts";

/** `orgpods`: our own image. `original`: the image the contract was written for, with its faults. */
export type ImageFlavour = "orgpods" | "original";

const CONTRACT_DIRECTIVES = `PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
TrustedUserCAKeys /etc/ssh/godfather_user_ca.pub
AuthorizedPrincipalsFile /etc/ssh/godfather_principals/%u
`;

/** A member's forwarding acts as root, so Unix sockets are off; the default MaxStartups drops logins of a class. */
const ORGPODS_DIRECTIVES = `${CONTRACT_DIRECTIVES}AllowStreamLocalForwarding no
X11Forwarding no
MaxStartups 60:30:200
`;

/** What the server looks for before it lets a certificate forward ports: this image closes Unix sockets by itself. */
export const ORGPODS_MARKER = "orgpods-image 1\nallow-stream-local-forwarding no\n";

/** Every file of an image. `port`: where this start's sshd listens on 127.0.0.1. */
export function imageFiles(flavour: ImageFlavour, hostname: string, port: number): ImageFile[] {
  const ours = flavour === "orgpods";
  const files: ImageFile[] = [
    ...etcFiles(hostname, port),
    { path: "etc/godfather/admin.bashrc", text: ADMIN_BASHRC, mode: 0o644 },
    { path: "etc/godfather/user.bashrc", text: USER_BASHRC, mode: 0o644 },
    {
      path: "etc/ssh/sshd_config.d/godfather.conf",
      text: ours ? ORGPODS_DIRECTIVES : CONTRACT_DIRECTIVES,
      mode: 0o644,
    },
    { path: "usr/local/bin/godfather-login", text: ours ? ORGPODS_LOGIN : ORIGINAL_LOGIN, mode: 0o755 },
    { path: "start.sh", text: ours ? ORGPODS_START : ORIGINAL_START, mode: 0o755 },
  ];
  if (ours) files.push({ path: "etc/godfather/orgpods-image", text: ORGPODS_MARKER, mode: 0o644 });
  return files;
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
