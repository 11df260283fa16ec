import type { Command } from "commander";
import type { FileFlags } from "../file.ts";
import type { GetFlags } from "../file_get.ts";
import type { PutFlags } from "../file_put.ts";
import { example, type Run } from "./values.ts";

type ForceFlags = FileFlags & { readonly force?: boolean };

/** `file …` */
export function addFileCommands(program: Command, run: Run): void {
  const file = program.command("file").description("Files on a running pod, as root.")
    .addHelpText("after", example("orgpods file ls k7x2m9 /workspace"));
  addLooking(file, run);
  addTransfers(file, run);
  addChanges(file, run);
}

/** The paths on the pod may be bytes. */
function withBytes(command: Command): Command {
  return command.option("--b64", "paths on the pod are base64url of their bytes, for names that are not UTF-8");
}

function addLooking(file: Command, run: Run): void {
  withBytes(file.command("ls <id> [path]").description("List a folder (default: /workspace)."))
    .addHelpText("after", example("orgpods file ls k7x2m9 /workspace/users"))
    .action((id: string, path: string | undefined, flags: FileFlags) =>
      run(async (shell) => await (await import("../file_list.ts")).listFiles(shell, id, path, flags))
    );

  withBytes(file.command("stat <id> <path>").description("Show what is known about a file, a folder or a link."))
    .addHelpText("after", example("orgpods file stat k7x2m9 /workspace/train.py"))
    .action((id: string, path: string, flags: FileFlags) =>
      run(async (shell) => await (await import("../file.ts")).statFile(shell, id, path, flags))
    );

  withBytes(file.command("cat <id> <path>").description("Print a file."))
    .option("--force", "print on a terminal also what is no text, control characters included")
    .addHelpText("after", example("orgpods file cat k7x2m9 /workspace/train.log"))
    .action((id: string, path: string, flags: ForceFlags) =>
      run(async (shell) => await (await import("../file_get.ts")).catFile(shell, id, path, flags))
    );
}

function addTransfers(file: Command, run: Run): void {
  withBytes(file.command("get <id> <path> [file]").description("Fetch a file; - for standard output."))
    .option("--force", "replace a local file of that name")
    .option("--continue", "go on where an earlier try was cut off")
    .addHelpText("after", example("orgpods file get k7x2m9 /workspace/model.pt model.pt"))
    .action((id: string, path: string, target: string | undefined, flags: GetFlags) =>
      run(async (shell) => await (await import("../file_get.ts")).getFile(shell, id, path, target, flags))
    );

  withBytes(
    file.command("put <id> <file> [path]").description(
      "Send a file, - for standard input, to a path or into a folder on the pod (default: /workspace).",
    ),
  )
    .option("--if-match <etag>", "only over the file that file stat shows with this etag; 5 when it was changed")
    .option("--new", "only when there is nothing at the path; 5 otherwise")
    .addHelpText("after", example("orgpods file put k7x2m9 data.csv /workspace/data.csv"))
    .action((id: string, source: string, path: string | undefined, flags: PutFlags) =>
      run(async (shell) => await (await import("../file_put.ts")).putFile(shell, id, source, path, flags))
    );

  withBytes(
    file.command("archive <id> <path> [file]").description(
      "Fetch a folder as tar.gz, to a file or to another program.",
    ),
  )
    .option("--force", "replace a local file of that name")
    .addHelpText("after", example("orgpods file archive k7x2m9 /workspace/run1 run1.tar.gz"))
    .action((id: string, path: string, target: string | undefined, flags: ForceFlags) =>
      run(async (shell) => await (await import("../file_get.ts")).archiveFolder(shell, id, path, target, flags))
    );
}

function addChanges(file: Command, run: Run): void {
  withBytes(file.command("mkdir <id> <path>").description("Make a folder."))
    .addHelpText("after", example("orgpods file mkdir k7x2m9 /workspace/run2"))
    .action((id: string, path: string, flags: FileFlags) =>
      run(async (shell) => await (await import("../file.ts")).makeFolder(shell, id, path, flags))
    );

  withBytes(file.command("mv <id> <from> <to>").description("Rename or move; what is there already is not replaced."))
    .addHelpText("after", example("orgpods file mv k7x2m9 /workspace/run2 /workspace/run3"))
    .action((id: string, from: string, to: string, flags: FileFlags) =>
      run(async (shell) => await (await import("../file.ts")).moveFile(shell, id, from, to, flags))
    );

  withBytes(file.command("rm <id> <path>").description("Delete a file or a link, with -r a folder."))
    .option("-r, --recursive", "delete a folder with everything in it; links are not followed")
    .option("--yes", "do not ask for the folder's name")
    .addHelpText("after", example("orgpods file rm k7x2m9 /workspace/run3 -r --yes"))
    .action((id: string, path: string, flags: FileFlags & { recursive?: boolean; yes?: boolean }) =>
      run(async (shell) => await (await import("../file.ts")).removeFile(shell, id, path, flags))
    );
}
