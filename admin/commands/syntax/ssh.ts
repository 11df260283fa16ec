import type { Command } from "commander";
import type { SshConfigFlags } from "../ssh_config.ts";
import { example, notEmpty, type Run } from "./values.ts";

/** `ssh-config` and `ssh-proxy`, for members on their own computers. */
export function addSshCommands(program: Command, run: Run): void {
  program.command("ssh-config")
    .description("As a member: give ssh, scp, rsync and editors a name for each of your pods.")
    .option("--identity <path>", "log in with this private key (default: one that is made)", notEmpty)
    .option("--yes", "add the line to ~/.ssh/config without asking")
    .option("--remove", "take everything away again: of --org, or of all organizations")
    .addHelpText("after", example("orgpods ssh-config --yes"))
    .action((flags: SshConfigFlags) =>
      run(async (shell) => await (await import("../ssh_config.ts")).sshConfig(shell, flags))
    );

  program.command("ssh-proxy <org> <pod>")
    .description("What ssh runs to get to a pod: renews the certificate and passes the bytes.")
    .option("--renew", "only renew the certificate")
    .addHelpText("after", example("orgpods ssh-proxy soc k7x2m9 --renew"))
    .action((org: string, pod: string, flags: { renew?: boolean }) =>
      run(async (shell) => await (await import("../ssh_proxy.ts")).sshProxy(shell, org, pod, flags))
    );
}
