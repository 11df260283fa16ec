import assert from "node:assert/strict";
import { parseLook, WANTED, wrongSetting } from "../../server/setup/look.ts";
import { planSetup } from "../../server/setup/plan.ts";

const DROP_IN = "a".repeat(64);
const settings = Object.entries(WANTED).map(([name, value]) => `setting ${name} ${value}`).join("\n");
const MARKER = btoa("orgpods-image 1\nallow-stream-local-forwarding no\n");
const facts = (text: string) => {
  const parsed = parseLook(`${text}\nclock 1700000000\nend\n`);
  assert.ok(parsed !== null && typeof parsed !== "string", text);
  return parsed;
};

Deno.test("parseLook refuses what is no pod of ours to set up, and a cut answer", () => {
  assert.equal(parseLook("not root\n"), "The server's login on it is not root");
  assert.equal(parseLook("not sshd\n"), "The server's login does not come through an OpenSSH server");
  assert.equal(parseLook("listener 12\nclock 1700000000\n"), null);
  assert.equal(parseLook("listener 12\nend\n"), null, "without a clock");
  assert.equal(parseLook("clock 99999999999999\nend\n"), null);
});

Deno.test("parseLook reads a pod's answer, and leaves out what has not the form it should have", () => {
  const read = facts(
    `listener 12\nconfig /etc/x\nmarker ${MARKER}\nmissing ssh\nmissing rm -rf\nconfirmed zz\n` +
      `dropin ${DROP_IN}\nsetting RevokedKeys  /a b\nsetting broken`,
  );
  assert.deepEqual(read.listener, { pid: 12, config: "/etc/x" });
  assert.equal(read.clock, 1_700_000_000_000);
  assert.equal(read.marker, "orgpods-image 1\nallow-stream-local-forwarding no\n");
  assert.deepEqual(read.missing, ["ssh"]);
  assert.deepEqual([read.confirmed, read.dropIn], [null, DROP_IN]);
  assert.equal(read.settings.get("revokedkeys"), "/a b");
  assert.equal(facts("marker %%%").marker, "");
});

Deno.test("wrongSetting names the first setting that is not as wanted", () => {
  assert.equal(wrongSetting(facts(settings).settings), null);
  assert.equal(wrongSetting(facts(settings.replace("without-password", "prohibit-password")).settings), null);
  assert.equal(
    wrongSetting(facts(settings.replace("revokedkeys /etc/ssh/godfather_revoked", "revokedkeys none")).settings),
    "revokedkeys none",
  );
  assert.equal(wrongSetting(new Map()), "trustedusercakeys (not set)");
});

Deno.test("planSetup takes our image at its word only where sshd says the same", () => {
  const image = `listener 12\nmarker ${MARKER}\n${settings}`;
  assert.deepEqual(planSetup(facts(image), DROP_IN), { kind: "image" });
  assert.equal(
    planSetup(facts(image.replace("allowstreamlocalforwarding no", "allowstreamlocalforwarding yes")), DROP_IN).kind,
    "push",
  );
  assert.equal(planSetup(facts(image.replace(MARKER, btoa("orgpods-image 9\n"))), DROP_IN).kind, "push");
});

Deno.test("planSetup pushes once per start, and again where another drop-in lies or nothing was confirmed", () => {
  const plain = `listener 12\n${settings}`;
  const done = `${plain}\ndropin ${DROP_IN}\nconfirmed ${DROP_IN}`;
  assert.deepEqual(planSetup(facts(done), DROP_IN), { kind: "push", isDone: true });
  for (const other of [plain, `${plain}\ndropin ${DROP_IN}`, done.replaceAll("aaa", "bbb")]) {
    assert.deepEqual(planSetup(facts(other), DROP_IN), { kind: "push", isDone: false }, other);
  }
});

Deno.test("planSetup refuses with the reason where the set-up cannot be brought", () => {
  const reason = (text: string) => {
    const plan = planSetup(facts(text), DROP_IN);
    return plan.kind === "refuse" ? plan.reason : plan.kind;
  };
  assert.equal(
    reason(`listener 1\nmissing bash\nmissing ssh\n${settings}`),
    "It lacks programs that are needed: bash, ssh",
  );
  assert.equal(reason("listener 1"), "Its SSH server does not tell its settings (sshd -T)");
  assert.equal(reason(settings), "Its SSH server is not one that can be told to read its settings anew");
});

Deno.test("parseLook takes no path from a pod that a shell would read as more than a path", () => {
  for (const config of ["x'; id; '", "/etc/a b", "relative", "/etc/$(id)", `/${"a".repeat(300)}`]) {
    assert.equal(facts(`listener 12\nconfig ${config}`).listener?.config, null, config);
  }
});
