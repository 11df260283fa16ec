/** What a session of an in-process pod runs: the image's login program is understood here instead of being there. */

export interface PodCommand {
  /** Below the pod's volume; empty is the volume itself. */
  readonly folder: string;
  /** Undefined: an interactive shell. */
  readonly command: string | undefined;
  /** Of the certificate or the officer's command; undefined for the backend. */
  readonly name: string | undefined;
}

const LOGIN = /^\/usr\/local\/bin\/godfather-login (--admin )?([a-z0-9_][a-z0-9._-]{0,21})$/;

/**
 * `forced`: the certificate's forced command; `requested`: what the client asked for, undefined for a shell. As in a
 * pod, a member's request is run in the member's folder, and the officer's request is the login program itself.
 */
export function interpretCommand(forced: string | undefined, requested: string | undefined): PodCommand {
  if (forced !== undefined) {
    const name = LOGIN.exec(forced)?.[2];
    // Another forced command replaces the request, as sshd does it.
    if (name === undefined) return { folder: "", command: forced, name: undefined };
    return { folder: `users/${name}`, command: requested, name };
  }
  const name = requested === undefined ? undefined : LOGIN.exec(requested)?.[2];
  if (name !== undefined) return { folder: `users/${name}`, command: undefined, name };
  return { folder: "", command: requested, name: undefined };
}
