import { lookup } from "node:dns/promises";

/** The addresses of a host name, in the order to try them. Rejects when there is none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** There is no address for the name, or the name servers did not say. */
export class NoAddress extends Error {
  override readonly name = "NoAddress";
}

/** As the system resolves names: `/etc/hosts`, then DNS. */
export const systemResolve: Resolve = async (hostname) => {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      throw new NoAddress(`The host name has no address (${String(error.code)})`, { cause: error });
    }
    throw error;
  }
};
