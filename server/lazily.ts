/** Makes a thing at its first use, once. For what is heavy to load and not needed to start. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => made ??= make();
}
