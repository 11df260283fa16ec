/** A pause before something is tried again; milliseconds UTC. */
export interface Wait {
  /** When it began. */
  readonly from: number;
  readonly until: number;
}

/** True without a wait, after one, and where the clock was set back behind its beginning: nobody knows how long it is then. */
export function isOver(wait: Wait | undefined, now: number): boolean {
  return wait === undefined || now >= wait.until || now < wait.from;
}
