import type { Transfer } from "../core/transfers.ts";
import { duration, size, speed } from "../text/units.ts";
import { amountLeftMs, type Sample, speedOf } from "../core/samples.ts";

/** What is on its way, in one line: the newest one with its progress, and how many others; null for nothing. */
export function transferText(transfers: readonly Transfer[]): string | null {
  const moving = transfers.filter(({ state }) => state === "running" || state === "stopping");
  const [first] = moving;
  if (first === undefined) return null;
  const others = moving.length === 1 ? "" : `, ${moving.length - 1} more`;
  return `${first.title} ${
    first.state === "stopping" ? "stopping …" : amountText(first.samples)
  }${others} (:transfers)`;
}

/** `42% of 10 MB, 1.3 MB/s, 5 s left`; less where the total is not known. */
export function amountText(samples: readonly Sample[]): string {
  const last = samples.at(-1);
  if (last === undefined) return "…";
  const { done, total } = last;
  const percent = total === null
    ? size(done)
    : `${total === 0 ? 100 : Math.floor(done / total * 100)}% of ${size(total)}`;
  const pace = speedOf(samples);
  const left = amountLeftMs(samples);
  return [percent, ...(pace === null ? [] : [speed(pace)]), ...(left === null ? [] : [`${duration(left)} left`])]
    .join(", ");
}
