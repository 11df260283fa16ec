/** What the screens of one pod are opened with. */
export interface PodParams {
  readonly id: string;
  /** For the title until the list is known, and once the pod is gone. */
  readonly name: string;
}
