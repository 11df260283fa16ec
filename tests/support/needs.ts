/**
 * Says which tools of the machine a test needs. A missing one is a visible skip, unless ORGPODS_TEST_REQUIRE=all:
 * then the test runs and fails, so that the gate cannot pass by skipping.
 */
const all = Deno.env.get("ORGPODS_TEST_REQUIRE") === "all";

function onPath(tool: string): boolean {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      return Deno.statSync(`${folder}/${tool}`).isFile;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
      throw error;
    }
  });
}

/** `ignore` value for `Deno.test`: true when a tool is missing and skipping is allowed. "root" asks for uid 0. */
export function lacks(...tools: string[]): boolean {
  if (all) return false;
  const missing = tools.filter((tool) => tool === "root" ? Deno.uid() !== 0 : !onPath(tool));
  if (missing.length > 0) console.error(`skipped: this machine lacks ${missing.join(", ")}`);
  return missing.length > 0;
}
