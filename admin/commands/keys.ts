import { type Api, read } from "../client/api.ts";
import { asOperator, onlyOrg, pathPart } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime, table } from "./text.ts";

type Rotation = Awaited<
  ReturnType<Awaited<ReturnType<Api["operator"]["orgs"][":prefix"]["rotations"]["$get"]>>["json"]>
>["rotations"][number];

async function prefixFor(shell: Shell, api: Api): Promise<string> {
  const { org } = shell.options;
  return org === undefined ? await onlyOrg(api) : pathPart(org, "--org");
}

/** `orgpods keys list`: every key that the org has or had; private halves are never shown. */
export async function listKeys(shell: Shell): Promise<void> {
  await asOperator(shell, "keys list", async (api) => {
    const param = { prefix: await prefixFor(shell, api) };
    const answer = await read(api.operator.orgs[":prefix"].keys.$get({ param }));
    if (answer.value.keys.length === 0) await shell.say("There are no keys yet; they are made with the first pod.");
    await shell.result(answer, ({ keys }) =>
      keys.length === 0 ? "" : table(
        ["KIND", "STATE", "USABLE", "MADE", "FINGERPRINT", "PUBLIC KEY"],
        keys.map((key) => [
          key.kind,
          key.state,
          key.usable ? "yes" : "no",
          shortTime(key.created_at),
          key.fingerprint,
          key.public_key,
        ]),
      ));
  });
}

/** `orgpods keys rotate`. */
export async function rotateKey(shell: Shell, kind: string): Promise<void> {
  await asOperator(shell, "keys rotate", async (api) => {
    const param = { prefix: await prefixFor(shell, api), kind: pathPart(kind, "The kind of key") };
    const answer = await read(api.operator.orgs[":prefix"].keys[":kind"].$post({ param }));
    await shell.result(answer, ({ rotation }) => describe(rotation));
    await shell.say("The server carries it on by itself while it runs; see: orgpods keys status");
  });
}

/** `orgpods keys status`: the last rotation of each kind and what is left of it. */
export async function keyStatus(shell: Shell): Promise<void> {
  await asOperator(shell, "keys status", async (api) => {
    const param = { prefix: await prefixFor(shell, api) };
    const answer = await read(api.operator.orgs[":prefix"].rotations.$get({ param }));
    if (answer.value.rotations.length === 0) await shell.say("No key was replaced so far.");
    await shell.result(answer, ({ rotations }) => rotations.map(describe).join("\n\n"));
  });
}

function describe(rotation: Rotation): string {
  const left = rotation.pods.filter((pod) => pod.left !== null);
  const head = facts([
    ["Key", rotation.kind],
    ["State", rotation.state],
    ["Old", rotation.old_fingerprint],
    ["New", rotation.new_fingerprint],
    ["Begun", `${shortTime(rotation.asked_at)} by ${rotation.asked_by}`],
    ["Finished", shortTime(rotation.finished_at) ?? "not yet"],
    ["Pods left", `${left.length} of ${rotation.pods.length}`],
  ]);
  if (left.length === 0) return head;
  const rows = left.map((
    pod,
  ) => [pod.pod_id, pod.name, pod.status, pod.left, pod.todo ?? "nothing, it comes by itself"]);
  return `${head}\n${table(["POD", "NAME", "STATUS", "LEFT", "TO DO"], rows)}`;
}
