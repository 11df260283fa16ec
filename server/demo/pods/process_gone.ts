/** True for the error of reading or signalling a process that has ended. Deno has no class for ESRCH when it comes from
 * reading /proc, only its number. */
export function isGone(error: unknown): boolean {
  if (error instanceof Deno.errors.NotFound) return true;
  return error instanceof Error && /\(os error 3\)/.test(error.message);
}
