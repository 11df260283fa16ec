import { z } from "zod";
import { RunpodError, type RunpodErrorKind } from "./errors.ts";
import { plain, type Redact } from "./redact.ts";
import { type Deadline, type Request, unreadable } from "./request.ts";

/** The account's money in USD. `spendPerHour` is null when RunPod does not tell it. */
export interface Balance {
  readonly balance: number;
  readonly spendPerHour: number | null;
}

const answerShape = z.object({
  data: z.object({
    myself: z.object({ clientBalance: z.number(), currentSpendPerHr: z.number().nullish() }).nullish(),
  }).nullish(),
  errors: z.array(z.object({
    message: z.string().nullish(),
    extensions: z.object({ code: z.string().nullish() }).nullish(),
  })).nullish(),
});

/** Reads the balance, which only RunPod's GraphQL API tells. Its refusals come as 200 with `errors`. */
export async function readBalance(graphql: Request, deadline: Deadline, redact: Redact): Promise<Balance> {
  const query = "query { myself { clientBalance currentSpendPerHr } }";
  const { status, json } = await graphql(
    { method: "POST", path: "/graphql", body: { query }, repeatable: true },
    deadline,
  );
  const read = answerShape.safeParse(json);
  if (!read.success) throw unreadable(status, "RunPod sent an answer without a balance");
  const { data, errors } = read.data;
  const refused = errors?.[0];
  if (refused) throw refusal(status, redact(refused.message ?? ""), refused.extensions?.code ?? "");
  if (!data?.myself) {
    throw new RunpodError({ kind: "auth", status, detail: "The RunPod API key may not read the balance" });
  }
  return { balance: data.myself.clientBalance, spendPerHour: data.myself.currentSpendPerHr ?? null };
}

function refusal(status: number, message: string, code: string): RunpodError {
  const denied = /UNAUTH|FORBIDDEN|DENIED/i.test(code) || /unauthori[sz]ed|not authori[sz]ed|forbidden/i.test(message);
  const kind: RunpodErrorKind = denied ? "auth" : "upstream";
  return new RunpodError({ kind, status, detail: plain(`RunPod refused to tell the balance: ${message || code}`) });
}
