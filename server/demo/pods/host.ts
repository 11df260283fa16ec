/**
 * What runs the pods behind the stand-in RunPod: a real sshd in private namespaces, an SSH server inside the process,
 * or nothing at all. The stand-in asks for a container and gets the address at which its SSH server answers.
 */

export interface PodSpec {
  /** RunPod's id of the pod; the container learns it as `RUNPOD_POD_ID`. */
  readonly id: string;
  readonly image: string;
  /** The environment of process 1, reserved `GODFATHER_*` names included. */
  readonly env: Readonly<Record<string, string>>;
}

export interface PodAddress {
  readonly host: string;
  readonly port: number;
}

export interface PodHost {
  /** Boots a fresh container (new accounts, new host keys, new port); the volume of an earlier start is mounted again.
   * Resolves when the SSH server answers with its banner. */
  start(pod: PodSpec): Promise<PodAddress>;
  /** Ends the container and everything in it. `/workspace` is kept only with `keepVolume`. */
  stop(id: string, options: { readonly keepVolume: boolean }): Promise<void>;
  /** Ends the container if it runs and deletes everything of the pod. */
  remove(id: string): Promise<void>;
  /** Ends all containers and deletes everything the host made. */
  close(): Promise<void>;
}
