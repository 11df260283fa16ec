import { type Command, Option } from "commander";
import type { CatalogFlags } from "../catalog.ts";
import type { AccessFlags } from "../pod_access.ts";
import type { CreateFlags } from "../pod_create.ts";
import type { SetFlags } from "../pod_stops.ts";
import { collect, example, type Run, whole } from "./values.ts";

/** `pod …` */
export function addPodCommands(program: Command, run: Run): void {
  const pod = program.command("pod").description("Pods of an organization.")
    .addHelpText("after", example("orgpods pod list --org robotics"));

  pod.command("list").description("List the pods.")
    .addHelpText("after", example("orgpods pod list --json"))
    .action(() => run(async (shell) => await (await import("../pod.ts")).listPods(shell)));

  pod.command("show <pod-id>").description("Show a pod: why it is in its state, when it stops, what is wrong with it.")
    .addHelpText("after", example("orgpods pod show k7x2m9"))
    .action((id: string) => run(async (shell) => await (await import("../pod.ts")).showPod(shell, id)));

  addCreate(pod, run);
  addCatalog(pod, run);
  addStops(pod, run);

  pod.command("access <pod-id>").description("Show or change who may use a pod.")
    .addOption(new Option("--public", "every member").conflicts("private"))
    .addOption(new Option("--private", "only who is listed"))
    .option("--allow <id>", "Discord id to add to the list (repeatable)", collect)
    .option("--allow-role <id>", "Discord role; everybody who has it now is added to the list")
    .option("--remove <id>", "Discord id to take off the list (repeatable)", collect)
    .option("--set <ids>", 'the whole list, comma separated; "" for nobody')
    .addHelpText("after", example("orgpods pod access k7x2m9 --private --allow 600000000000000002"))
    .action((id: string, flags: AccessFlags) =>
      run(async (shell) => await (await import("../pod_access.ts")).podAccess(shell, id, flags))
    );

  const does = { start: "Start a stopped pod.", stop: "Stop a pod.", restart: "Restart a pod's container." } as const;
  for (const action of ["start", "stop", "restart"] as const) {
    const command = pod.command(`${action} <pod-id>`).description(does[action])
      .addHelpText("after", example(`orgpods pod ${action} k7x2m9`))
      .action((id: string, flags: { overBudget?: boolean }) =>
        run(async (shell) => await (await import("../pod.ts")).actOnPod(shell, id, action, flags))
      );
    if (action === "start") command.option("--over-budget", "although the month's budget is spent");
  }

  pod.command("terminate <pod-id>").description("Delete a pod and its files at RunPod.")
    .option("--yes", "do not ask for the pod's name")
    .addHelpText("after", example("orgpods pod terminate k7x2m9 --yes"))
    .action((id: string, flags: { yes?: boolean }) =>
      run(async (shell) => await (await import("../pod.ts")).terminatePod(shell, id, flags))
    );
}

/** What a pod can be made of. */
function addCatalog(pod: Command, run: Run): void {
  pod.command("gpus").description("List the GPU types that create takes, with prices and stock.")
    .addOption(new Option("--cloud <kind>", "the stock of this one").choices(["community", "secure"]))
    .addHelpText("after", example("orgpods pod gpus --cloud secure"))
    .action((flags: CatalogFlags) =>
      run(async (shell) => await (await import("../catalog.ts")).listGpus(shell, flags))
    );

  pod.command("cpus").description("List flavors of CPU pods with prices and stock.")
    .addHelpText("after", example("orgpods pod cpus"))
    .action(() => run(async (shell) => await (await import("../catalog.ts")).listCpus(shell)));
}

/** Who is on a pod, how that ends, and when it stops by itself. */
function addStops(pod: Command, run: Run): void {
  pod.command("members <pod-id>").description("Show who may use a pod, and its last certificates.")
    .addHelpText("after", example("orgpods pod members k7x2m9"))
    .action((id: string) => run(async (shell) => await (await import("../members.ts")).listPodMembers(shell, id)));

  pod.command("connected <pod-id>").description("Show who is on a pod now.")
    .addHelpText("after", example("orgpods pod connected k7x2m9"))
    .action((id: string) => run(async (shell) => await (await import("../pod_connected.ts")).listConnected(shell, id)));

  pod.command("disconnect <pod-id> <discord-id>").description("End everything somebody has on a pod.")
    .option("--block", "and keep them off it")
    .addHelpText("after", example("orgpods pod disconnect k7x2m9 600000000000000002 --block"))
    .action((id: string, discordId: string, flags: { block?: boolean }) =>
      run(async (shell) => await (await import("../access.ts")).disconnectMember(shell, id, discordId, flags))
    );

  pod.command("set <pod-id>").description("Change when a pod stops by itself.")
    .option("--auto-stop <minutes>", 'minutes idle before a stop, "off", or "default"', ownRule(5, 10_080))
    .option("--max-run <hours>", 'longest hours of one run, "off", or "default"', ownRule(1, 744))
    .addHelpText("after", example("orgpods pod set k7x2m9 --auto-stop 30 --max-run default"))
    .action((id: string, flags: SetFlags) =>
      run(async (shell) => await (await import("../pod_stops.ts")).setPod(shell, id, flags))
    );

  pod.command("keep <pod-id>").description("Keep a pod from stopping by itself for a while.")
    .requiredOption("--minutes <count>", "from now on", whole(1, 1_440))
    .addHelpText("after", example("orgpods pod keep k7x2m9 --minutes 90"))
    .action((id: string, flags: { minutes: number }) =>
      run(async (shell) => await (await import("../pod_stops.ts")).keepPod(shell, id, flags))
    );
}

/** `off` is 0; `default` stays a word, because the command line takes null for no value. */
function ownRule(min: number, max: number): (text: string) => number | "default" {
  const number = whole(min, max);
  return (text) => text === "off" ? 0 : text === "default" ? text : number(text);
}

function addCreate(pod: Command, run: Run): void {
  pod.command("create").description("Create a pod and print its id.")
    .option("--name <name>", "name (default: made up)")
    .option("--image <name>", "image (default: the organization's)")
    .addOption(new Option("--gpu <type>", 'GPU type, such as "NVIDIA RTX A4000"; pod gpus lists them').conflicts("cpu"))
    .option("--cpu [flavor]", "a CPU pod, of this flavor")
    .option("--vcpus <count>", "vCPUs of a CPU pod", whole(1, 1_000))
    .addOption(new Option("--cloud <kind>", "where RunPod looks for a machine").choices(["community", "secure"]))
    .option("--volume <gb>", "volume that outlives a stop; 0 for none", whole(0, 100_000))
    .option("--disk <gb>", "disk of the container", whole(1, 100_000))
    .option("--mount <path>", "where the volume is mounted")
    .option("--env <name[=value]>", "variable of the pod; without a value it is taken from here (repeatable)", collect)
    .option("--public", "every member may use it")
    .option("--allow <id>", "Discord id that may use it (repeatable)", collect)
    .option("--over-budget", "although the month's budget is spent")
    .option("--idempotency-key <key>", "the same key again gives the pod of the first call")
    .addHelpText(
      "after",
      example('orgpods pod create --name lab-1 --gpu "NVIDIA RTX A4000" --volume 20 --env WANDB_API_KEY'),
    )
    .action((flags: CreateFlags) =>
      run(async (shell) => await (await import("../pod_create.ts")).createPod(shell, flags))
    );
}
