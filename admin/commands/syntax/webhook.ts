import { type Command, Option } from "commander";
import type { AddFlags, DeliveryFlags, EditFlags } from "../webhook.ts";
import { collect, example, type Run, whole } from "./values.ts";

/** `webhook …`. Addresses come from standard input, because arguments are seen by everybody on the machine. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhook = program.command("webhook").description("Where events are sent: Discord channels, other servers.")
    .addHelpText("after", example("orgpods webhook list"));

  webhook.command("list").description("List the webhooks.")
    .addHelpText("after", example("orgpods webhook list --json"))
    .action(() => run(async (shell) => await (await import("../webhook.ts")).listWebhooks(shell)));

  webhook.command("add").description("Add a webhook; its address is read from standard input.")
    .requiredOption("--name <name>", "name for people")
    .addOption(
      new Option("--format <format>", "discord for a Discord channel, signed for JSON with a signature")
        .choices(["discord", "signed"]).makeOptionMandatory(),
    )
    .option("--kind <kind>", "event kind to send, such as pod.started (repeatable; default: all)", collect)
    .addHelpText("after", example("orgpods webhook add --name alerts --format discord < address.txt"))
    .action((flags: AddFlags) => run(async (shell) => await (await import("../webhook.ts")).addWebhook(shell, flags)));

  webhook.command("edit <id>").description("Change a webhook; what is not named stays.")
    .option("--name <name>", "name for people")
    .option("--url", "read a new address from standard input")
    .addOption(new Option("--kind <kind>", "event kind to send (repeatable)").argParser(collect).conflicts("allKinds"))
    .option("--all-kinds", "send every kind of event")
    .addOption(new Option("--enable", "switch it on").conflicts("disable"))
    .addOption(new Option("--disable", "switch it off; what waits for it is dropped"))
    .option("--rotate-secret", "make a new signing secret and print it")
    .addHelpText("after", example("orgpods webhook edit 3 --enable"))
    .action((id: string, flags: EditFlags) =>
      run(async (shell) => await (await import("../webhook.ts")).editWebhook(shell, id, flags))
    );

  webhook.command("remove <id>").description("Remove a webhook with its deliveries.")
    .addHelpText("after", example("orgpods webhook remove 3"))
    .action((id: string) => run(async (shell) => await (await import("../webhook.ts")).removeWebhook(shell, id)));

  webhook.command("test <id>").description("Send a test now and say what came of it.")
    .addHelpText("after", example("orgpods webhook test 3"))
    .action((id: string) => run(async (shell) => await (await import("../webhook.ts")).testWebhook(shell, id)));

  webhook.command("deliveries <id>").description("List what was sent to a webhook, newest first.")
    .option("--limit <count>", "how many", whole(1, 500), 100)
    .option("--before <id>", "only deliveries older than this one", whole(1, Number.MAX_SAFE_INTEGER))
    .addHelpText("after", example("orgpods webhook deliveries 3 --limit 20"))
    .action((id: string, flags: DeliveryFlags) =>
      run(async (shell) => await (await import("../webhook.ts")).listDeliveries(shell, id, flags))
    );

  webhook.command("resend <id> <delivery>").description(
    "Send a delivery again, by its number in the list, and say what came of it.",
  )
    .addHelpText("after", example("orgpods webhook resend 3 812"))
    .action((id: string, delivery: string) =>
      run(async (shell) => await (await import("../webhook.ts")).resendDelivery(shell, id, delivery))
    );
}
