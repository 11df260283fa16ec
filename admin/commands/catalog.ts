import { read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { table } from "./text.ts";

export interface CatalogFlags {
  readonly cloud?: string;
}

const usdText = (usd: number | null) => usd === null ? "-" : usd.toFixed(3);

/** `orgpods pod gpus`: GPU types as `pod create --gpu` takes them. Prices are USD per hour of one GPU. */
export async function listGpus(shell: Shell, { cloud }: CatalogFlags): Promise<void> {
  const query = cloud === undefined ? {} : { cloud: cloud === "secure" ? "SECURE" as const : "COMMUNITY" as const };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.catalog.gpus.$get({ param: { org }, query }));
    if (answer.value.gpus.length === 0) await shell.say("RunPod offers no GPU types.");
    await shell.result(answer, ({ gpus }) =>
      gpus.length === 0 ? "" : table(
        ["GPU TYPE", "MEMORY GB", "SECURE USD/H", "COMMUNITY USD/H", "STOCK"],
        gpus.map(({ id, memoryGb, price, availability }) => [
          id,
          memoryGb,
          usdText(price.secure),
          usdText(price.community),
          availability,
        ]),
      ));
  });
}

/** `orgpods pod cpus`: flavors as `pod create --cpu` takes them. Prices are USD per hour of one vCPU. */
export async function listCpus(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.catalog.cpus.$get({ param: { org } }));
    if (answer.value.cpus.length === 0) await shell.say("RunPod offers no CPU flavors.");
    await shell.result(answer, ({ cpus }) =>
      cpus.length === 0 ? "" : table(
        ["FLAVOR", "KIND", "VCPUS", "GB PER VCPU", "USD/H PER VCPU", "STOCK"],
        cpus.map(({ id, group, vcpu, ramGbPerVcpu, pricePerVcpu, availability }) => [
          id,
          group,
          vcpu.min === null || vcpu.max === null ? null : `${vcpu.min} to ${vcpu.max}`,
          ramGbPerVcpu,
          usdText(pricePerVcpu),
          availability,
        ]),
      ));
  });
}
