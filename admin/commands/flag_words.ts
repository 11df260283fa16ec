/** What the API calls fields, and the flags that set them; only fields that have the same flag in every command. */
const FLAGS: readonly (readonly [RegExp, string])[] = [
  [/[Ss]end "over_budget": true/g, "add --over-budget"],
  [/\brepeat\.time_zone\b/g, "--time-zone"],
  [/\brepeat\.count\b/g, "--count"],
  [/\brepeat\.every_weeks\b/g, "--weekly"],
  [/\bstart_at\b/g, "--start"],
  [/\bstop_at\b/g, "--stop"],
  [/^title must\b/g, "--title must"],
  [/\badd_users\b/g, "--allow"],
  [/\bremove_users\b/g, "--remove"],
  [/\bover_budget\b/g, "--over-budget"],
  [/\bon_gpu_taken\b/g, "--on-gpu-taken"],
];

/** A sentence of the API in the words of the command line. */
export function flagWords(sentence: string): string {
  return FLAGS.reduce((text, [field, flag]) => text.replace(field, flag), sentence);
}
