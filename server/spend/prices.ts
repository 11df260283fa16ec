/** A month of RunPod's storage prices. */
const MONTH_HOURS = 730;

/** USD for each GB and hour (RunPod's pricing page). The container disk costs nothing while a pod is stopped. */
const GB_HOUR = {
  container: 0.10 / MONTH_HOURS,
  volume: 0.10 / MONTH_HOURS,
  stoppedVolume: 0.20 / MONTH_HOURS,
} as const;

/** What a pod's disks cost by the hour, in USD. */
export interface DiskRates {
  readonly running: number;
  readonly stopped: number;
}

/**
 * The disk prices of a pod from its stored configuration (JSON with `container_disk_in_gb` and `volume_in_gb`; adopted
 * pods may lack them). Network volumes belong to the account, not to a pod, and are not in it.
 */
export function diskRatesOf(config: string): DiskRates {
  const sizes = JSON.parse(config) as { container_disk_in_gb?: unknown; volume_in_gb?: unknown };
  const volume = gb(sizes.volume_in_gb);
  return {
    running: gb(sizes.container_disk_in_gb) * GB_HOUR.container + volume * GB_HOUR.volume,
    stopped: volume * GB_HOUR.stoppedVolume,
  };
}

const gb = (size: unknown) => typeof size === "number" && size > 0 && Number.isFinite(size) ? size : 0;
