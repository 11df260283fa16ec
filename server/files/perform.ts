import type { Context } from "hono";
import { actorOf } from "../audit/write.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { type Env, orgOf } from "../http/env.ts";
import { fileError } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { openPod, type PodSession } from "./pod_session.ts";

/** Runs `work` on the pod of the route, with errors in the caller's terms. */
export async function onPod<T>(
  deps: FileDeps,
  c: Context<Env>,
  work: (session: PodSession) => Promise<T>,
): Promise<T> {
  try {
    return await work(await openPod(deps, orgOf(c), c.req.param("id") ?? ""));
  } catch (error) {
    throw fileError(error);
  }
}

/** Failures before anything was touched, which the audit does not keep. */
const UNTOUCHED = new Set([400, 404, 413]);

/**
 * As `onPod`, with a row of the audit for what was done, and for what failed on the pod: part of it may have been done.
 * `details` names the paths.
 */
export async function auditedOnPod<T>(
  deps: FileDeps,
  c: Context<Env>,
  details: (result: T | undefined) => Readonly<Record<string, unknown>>,
  work: (session: PodSession) => Promise<T>,
): Promise<T> {
  const asker = askerOf(c);
  return await onPod(deps, c, async (session) => {
    const note = (status: number, outcome: string, result: T | undefined) =>
      deps.audit.note({
        ...actorOf(asker.caller),
        address: asker.address,
        action: asker.action,
        orgPrefix: orgOf(c).prefix,
        podId: session.pod.runpod_id,
        status,
        outcome,
        details: details(result),
      });
    try {
      const result = await work(session);
      note(200, "ok", result);
      return result;
    } catch (error) {
      const failure = fileError(error);
      if (failure instanceof AppError && !UNTOUCHED.has(failure.status)) note(failure.status, failure.code, undefined);
      throw failure;
    }
  });
}
