/** Why a sign-in ended: each reason has its own page. */
export type OAuthReason =
  /** The person refused at Discord. */
  | "cancelled"
  /** The callback does not belong to this sign-in, or carries no code. */
  | "bad_callback"
  /** Discord refused the code, the client, or gave too little. */
  | "exchange_failed"
  /** Discord could not be reached or cannot tell. */
  | "unavailable";

const SENTENCES: Record<OAuthReason, string> = {
  cancelled: "The sign-in was cancelled at Discord",
  bad_callback: "The answer from Discord does not belong to this sign-in",
  exchange_failed: "Discord did not accept the sign-in",
  unavailable: "Discord is not available; try again shortly",
};

/**
 * The end of a sign-in without an identity. Its sentence is fixed and it has no cause: whatever the exchange threw may
 * hold codes, verifiers or tokens.
 */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly reason: OAuthReason;

  constructor(reason: OAuthReason) {
    super(SENTENCES[reason]);
    this.reason = reason;
  }
}
