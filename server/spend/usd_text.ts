/** An amount for people: cents, and below one USD four decimals, because a pod can cost less than a cent a minute. */
export function usdText(amount: number): string {
  return amount !== 0 && Math.abs(amount) < 1 ? amount.toFixed(4) : amount.toFixed(2);
}
