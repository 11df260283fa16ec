/**
 * The points the stand-in imitates, numbered as the contract of the RunPod client numbers them. A point with variants
 * can be switched on and off; its first variant is the default. A point without variants always holds.
 */

export interface FaultInfo {
  readonly id: string;
  readonly sentence: string;
  readonly variants: readonly string[];
}

export const FAULTS = [
  { id: "F1", sentence: "A key that was good is refused.", variants: ["401", "403"] },
  { id: "F2", sentence: "Errors are problem+json, success is JSON.", variants: [] },
  { id: "F3", sentence: "Unknown or malformed body fields give 422 with one line each.", variants: [] },
  { id: "F4", sentence: "Broken rules between fields give 400, an unknown template 404.", variants: [] },
  { id: "F5", sentence: "A body over 102400 bytes gives 413 before the key is checked.", variants: [] },
  { id: "F6", sentence: "Old paths give 404, wrong methods 405, unknown query parameters nothing.", variants: [] },
  {
    id: "F7",
    sentence: "The rate limit headers are left out, or name one window only.",
    variants: ["absent", "one-window"],
  },
  { id: "F8", sentence: "Every request is recorded.", variants: [] },
  { id: "F9", sentence: "A pod that is not up shows runtime {} instead of null.", variants: ["empty-runtime"] },
  {
    id: "F10",
    sentence: 'Create finds no capacity; "gpu" (or a CPU flavor) and "cloud" narrow it.',
    variants: ["refresh", "plain", "currently", "resources"],
  },
  {
    id: "F11",
    sentence: "Create is refused for the balance (402) or the pool (403).",
    variants: ["balance", "forbidden"],
  },
  { id: "F12", sentence: "Create without gpu.count is refused with the capacity text.", variants: ["count-refused"] },
  {
    id: "F13",
    sentence: 'Create makes the pod, its answer is lost; the pod shows after "ms".',
    variants: ["cut", "hang", "500", "502", "cut-body"],
  },
  { id: "F14", sentence: "Create fails and makes no pod.", variants: ["500", "cut"] },
  { id: "F15", sentence: 'A fresh pod is 404 and not listed for "ms" after its 201.', variants: ["invisible"] },
  {
    id: "F16",
    sentence: 'RUNNING without an address: never, only in runtime.ports, or "ms" later.',
    variants: ["never-address", "runtime-only", "late-address"],
  },
  {
    id: "F17",
    sentence: "runtime.ports has an http entry with an inner address, or entries with null parts.",
    variants: ["http-entry", "null-entries"],
  },
  { id: "F18", sentence: "EXITED keeps the old runtime and ssh.direct.", variants: ["stale-runtime"] },
  {
    id: "F19",
    sentence: "Pods lack optional parts, have null parts, an unknown status, unknown fields or cost 0.",
    variants: ["missing-parts", "null-parts", "unknown-status", "extra-fields", "cost-zero"],
  },
  {
    id: "F20",
    sentence: "The list comes in short pages, with an empty page, without pagination, or never ends.",
    variants: ["short-pages", "empty-page", "no-pagination", "endless"],
  },
  { id: "F21", sentence: "Foreign pods are in the list (made through _demo/pods).", variants: [] },
  { id: "F22", sentence: "Pods are deleted or migrated outside (through _demo/pods).", variants: [] },
  { id: "F23", sentence: "env comes back in clear.", variants: [] },
  {
    id: "F24",
    sentence: "An action is answered 409 although it was legal; illegal ones always are.",
    variants: ["conflict"],
  },
  { id: "F25", sentence: "terminate and DELETE give an empty 204, then 404.", variants: [] },
  {
    id: "F26",
    sentence: "Reads of a restarted pod show the old address, or its next start changes the IP (made-up addresses).",
    variants: ["stale-reads", "ip"],
  },
  {
    id: "F27",
    sentence: "Start and restart are refused with 400: no free GPU on the host, or another reason.",
    variants: ["problem", "plain", "other"],
  },
  { id: "F28", sentence: "Start succeeds with gpu.count 0 or without gpu.", variants: ["zero", "absent"] },
  {
    id: "F29",
    sentence: 'An action answers 500 but is done, or answers 200 and is done "ms" later.',
    variants: ["500-but-done", "200-but-not-yet"],
  },
  { id: "F30", sentence: "stop and restart clear what is not on a mount.", variants: [] },
  {
    id: "F31",
    sentence: '429; "ms" sets the wait. The longest wait is Retry-After, the hour window, or nowhere.',
    variants: ["minute", "hour", "retry-after-only", "bare"],
  },
  {
    id: "F32",
    sentence: "The edge answers: HTML 502, HTML 524 (the request was carried out), empty 503, HTML 403 code 1010.",
    variants: ["html-502", "html-524", "empty-503", "agent-403"],
  },
  {
    id: "F33",
    sentence: 'An error body of another shape ("status" sets its status), or an unreadable 2xx that was carried out.',
    variants: ["error", "message", "not-json", "html-200"],
  },
  {
    id: "F34",
    sentence: 'The answer comes after "ms", is cut in its body, the connection closes unread, or 410.',
    variants: ["slow", "cut", "refused-like", "410"],
  },
  { id: "F35", sentence: "The GPU catalog has its traps; include needs product.", variants: [] },
  { id: "F36", sentence: "CPU flavors have fractional memory for each vCPU.", variants: [] },
  { id: "F37", sentence: "Billing has stopped pods with only a disk amount.", variants: [] },
] as const satisfies readonly FaultInfo[];

export type FaultId = (typeof FAULTS)[number]["id"];
