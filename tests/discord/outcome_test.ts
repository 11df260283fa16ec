import assert from "node:assert/strict";
import { ANN, directoryOf, GUILD, json, page, scripted } from "./support.ts";

interface Vector {
  why: string;
  status: number;
  code: number | null;
  kind: "not_member" | "misconfigured" | "down";
  hint?: string;
}

const vectors: Vector[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/discord/outcomes.json", import.meta.url)),
);

for (const { why, status, code, kind, hint } of vectors) {
  Deno.test(`member answers ${kind} when Discord says ${status} ${code ?? "without a code"}: ${why}`, async () => {
    await using server = scripted(() => code === null ? page(status) : json({ message: why, code }, status));
    const { directory, log } = directoryOf(server);
    const membership = await directory.member(GUILD, ANN);
    if (kind === "not_member") {
      assert.deepEqual(membership, { kind });
      assert.deepEqual(log.lines, []);
      return;
    }
    assert.equal(membership.kind, "unknown");
    assert.equal(membership.kind === "unknown" && membership.reason, kind);
    assert.ok(membership.kind === "unknown" && membership.hint.includes(hint!), JSON.stringify(membership));
    assert.equal(log.lines.length, 1, "the operator reads the hint in the log");
    assert.ok(log.lines[0]!.includes(JSON.stringify(hint).slice(1, -1)));
  });
}
