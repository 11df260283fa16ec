/** The result of `work`, or of `late` when `work` takes longer than `ms`. The work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bell = new Promise<T>((resolve) => timer = setTimeout(() => resolve(late()), ms));
  try {
    return await Promise.race([work, bell]);
  } finally {
    clearTimeout(timer);
  }
}
