import { allOrgs, type Org } from "../../db/stores/organizations.ts";
import { pullBackFuture } from "../../db/stores/spend.ts";
import { describeError, type Log } from "../log.ts";
import { type AccountDeps, lookAtBalance, lookAtBilling } from "./account.ts";
import { tellOfBudget } from "./budget_events.ts";

/** The regular look at money. */
export interface MoneyTurn {
  /** Checks every org's budget, and reads balance and bill where they are due. Call it every minute. */
  turn(): Promise<void>;
  /** Gives calls to RunPod that are under way up. */
  close(): void;
}

export function createMoneyTurn(deps: AccountDeps & { readonly log: Log }): MoneyTurn {
  const { db, clock, log } = deps;
  const closing = new AbortController();
  let lastTurn = Infinity;

  const lookAt = async (org: Org) => {
    try {
      tellOfBudget(db, org, clock.now());
      if (!deps.runpod.hasKey(org)) return;
      await lookAtBalance(deps, org, closing.signal);
      if (!closing.signal.aborted) await lookAtBilling(deps, org, closing.signal);
    } catch (error) {
      // One org's trouble is not another's.
      log.error("The money of an org could not be looked at", { org: org.prefix, error: describeError(error) });
    }
  };

  return {
    async turn() {
      const now = clock.now();
      if (now < lastTurn) {
        const moved = pullBackFuture(db, now);
        if (moved > 0) log.warn("Costs that a wrong clock put into the future were moved back", { stretches: moved });
      }
      lastTurn = now;
      await Promise.all(allOrgs(db).map(lookAt));
    },
    close: () => closing.abort(),
  };
}
