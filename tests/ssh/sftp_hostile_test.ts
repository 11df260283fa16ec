/** SFTP servers that lie, flood or keep silent: each call ends with a clear error. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type Sftp, SftpError, type SftpErrorKind } from "../../server/ssh/sftp/mod.ts";
import {
  answer,
  framed,
  honest,
  MODE,
  type Request,
  type SftpScript,
  sftpServer,
  TYPE,
} from "../support/hostile_sftp.ts";
import { sshServer } from "../support/hostile_ssh.ts";
import { errorOf, keyPair, targetAt, trustingPool } from "../support/ssh_pool.ts";
import { path, sftpErrorOf } from "../support/sftp.ts";
import { until } from "../support/sshd.ts";
import { listAll, onPage, onRead, onStat, readAll, stat, withServer } from "./scripted_server.ts";

/** Each row breaks the protocol: the call, and all others that wait, fail with `protocol` and this text. */
const broken: readonly [string, SftpScript, (sftp: Sftp) => Promise<unknown>, RegExp][] = [
  [
    "answers a request twice",
    onStat(({ id, reply }) => (reply(answer.attributes(id, 1)), reply(answer.status(id, 0)))),
    async (sftp) => (await stat(sftp), await sftp.lstat(path("/f"))),
    /was not made or was answered before/,
  ],
  [
    "answers a request that was not made",
    onStat(({ id, reply }) => reply(answer.status(id + 7, 0))),
    stat,
    /was not made/,
  ],
  ["tells its version twice", onStat(({ reply }) => reply(answer.version())), stat, /version twice/],
  ["answers with another type", onStat(({ id, reply }) => reply(answer.handle(id))), stat, /type 102 instead of 105/],
  ["says OK without attributes", onStat(({ id, reply }) => reply(answer.status(id, 0))), stat, /leaves out/],
  ["sends a packet of no bytes", onStat(({ raw }) => raw(Buffer.alloc(4))), stat, /claims to have 0 bytes/],
  [
    "sends a packet of 2 GB",
    onStat(({ raw }) => raw(Buffer.from("7fffffff", "hex"))),
    stat,
    /claims to have 2147483647/,
  ],
  [
    "sends a cut-off packet",
    onStat(({ id, reply }) => reply(answer.attributes(id, 1).subarray(0, -2))),
    stat,
    /cut off/,
  ],
  [
    "sends bytes behind an answer",
    onStat(({ id, reply }) => reply(Buffer.concat([answer.attributes(id, 1), Buffer.of(0)]))),
    stat,
    /bytes after the last field/,
  ],
  ["sends an answer without an id", onStat(({ raw }) => raw(framed(Buffer.of(101)))), stat, /cut off/],
  [
    "sends more content than was asked for",
    onRead(({ id, reply }) => reply(answer.data(id, Buffer.alloc(200)))),
    (sftp) => readAll(sftp, { end: 100 }),
    /200 bytes came where 100 were asked for/,
  ],
  [
    "sends content of no bytes",
    onRead(({ id, reply }) => reply(answer.data(id, Buffer.alloc(0)))),
    readAll,
    /0 bytes came/,
  ],
  [
    "sends an empty page",
    onPage(({ id, reply }) => reply(answer.names(id, []))),
    listAll,
    /page of a listing is empty/,
  ],
  [
    "counts more names than it sends",
    onPage(({ id, reply }) => reply(answer.names(id, ["a"], 0xffff_ffff))),
    listAll,
    /cut off/,
  ],
  ["lists a name with a slash", onPage(({ id, reply }) => reply(answer.names(id, ["a/b"]))), listAll, /slash or a NUL/],
  ["lists a name that climbs", onPage(({ id, reply }) => reply(answer.names(id, ["../a"]))), listAll, /slash or a NUL/],
  ["lists a name with NUL", onPage(({ id, reply }) => reply(answer.names(id, ["a\0"]))), listAll, /slash or a NUL/],
  ["lists an empty name", onPage(({ id, reply }) => reply(answer.names(id, [""]))), listAll, /empty name/],
  [
    "lists a name of 5000 bytes",
    onPage(({ id, reply }) => reply(answer.names(id, ["n".repeat(5000)]))),
    listAll,
    /more than 4096 bytes/,
  ],
  [
    "resolves a path to two",
    { on: ({ id, reply }) => reply(answer.names(id, ["/a", "/b"])) },
    (sftp) => sftp.realPath(path(".")),
    /2 names came where one/,
  ],
  [
    "gives a handle of 300 bytes",
    { on: ({ id, reply }) => reply(answer.handle(id, "h".repeat(300))) },
    listAll,
    /handle has more than 256/,
  ],
  ["floods stderr", onStat(({ channel }) => void channel.stderr.write(Buffer.alloc(70_000))), stat, /error messages/],
];

for (const [name, script, use, message] of broken) {
  Deno.test(`an SFTP session ends with a protocol error when the server ${name}`, async () => {
    await withServer(script, async (sftp, { again, sessions }) => {
      const error = await sftpErrorOf(use(sftp));
      assert.equal(error.kind, "protocol");
      assert.match(error.message, message);
      assert.equal(sftp.ended, error);
      assert.equal(await sftpErrorOf(sftp.stat(path("/f"))), error);
      assert.deepEqual(sftp.usage.pending, 0);
      await again();
      assert.equal(sessions(), 2, "the next caller gets another session");
    });
  });
}

Deno.test("every waiting call fails when one answer breaks the protocol", async () => {
  await withServer(onStat(({ raw }) => raw(Buffer.alloc(4))), async (sftp) => {
    const calls = [
      sftp.stat(path("/a")),
      sftp.lstat(path("/a")),
      sftp.readLink(path("/a")),
      sftp.removeFile(path("/a")),
    ];
    const [first, ...others] = await Promise.all([
      sftpErrorOf(calls[0]!),
      ...calls.slice(1).map((one) => one.catch((e) => e)),
    ]);
    assert.equal(first.kind, "protocol");
    // Those that were answered before the bad packet came have their answer.
    for (const error of others) assert(error instanceof SftpError || error === undefined);
  });
});

const beginnings: readonly [string, SftpScript["version"], RegExp][] = [
  ["prints a login banner", (channel) => void channel.write("Welcome to the pod!\n"), /output of a login script/],
  ["speaks version 2", answer.version(2), /speaks version 2 instead of 3/],
  ["answers before its version", answer.status(1, 0), /before it told its version/],
  ["ends at once", (channel) => void channel.end(), /ended the session/],
];
for (const [name, version, hint] of beginnings) {
  Deno.test(`sftp fails with pod_command_failed when the server ${name}`, async () => {
    const server = await sftpServer({ version: version!, on: honest });
    const pool = trustingPool();
    try {
      const error = await errorOf(pool.sftp(targetAt(server.port), { deadlineMs: 60_000 }));
      assert.equal(error.code, "pod_command_failed");
      assert.match(error.details.hint ?? "", hint);
    } finally {
      await pool.close();
      await server.close();
    }
  });
}

Deno.test("sftp fails by its deadline when the server never tells its version", async () => {
  const server = await sftpServer({ version: () => {}, on: honest });
  const pool = trustingPool();
  try {
    await pool.connect(targetAt(server.port), { deadlineMs: 60_000 });
    const error = await errorOf(pool.sftp(targetAt(server.port), { deadlineMs: 300 }));
    assert.equal(error.code, "pod_command_failed");
    assert.match(error.details.hint ?? "", /no SFTP session was opened/);
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("sftp says so when the pod has no SFTP subsystem, and gives the channel back", async () => {
  const server = await sshServer({ hostKey: keyPair().private });
  const pool = trustingPool();
  try {
    const error = await errorOf(pool.sftp(targetAt(server.port), { deadlineMs: 60_000 }));
    assert.equal(error.code, "pod_command_failed");
    assert.match(error.details.hint ?? "", /offers no SFTP/);
    await until(() => pool.stats().connections === 0, "the connection with the lost channel ends");
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("sftp fails in time when the server sends a banner of 10 MB before the login", async () => {
  const server = await sshServer({ hostKey: keyPair().private, banner: "welcome ".repeat(10 * 1024 * 128) });
  const pool = trustingPool();
  try {
    const error = await errorOf(pool.sftp(targetAt(server.port), { deadlineMs: 8_000 }));
    assert.equal(error.code, "pod_unreachable");
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("answers in another order reach the calls they belong to", async () => {
  const held: Request[] = [];
  await withServer(
    onStat((request) => {
      held.push(request);
      if (held.length < 3) return;
      for (const { id, body, reply } of held.reverse()) reply(answer.attributes(id, body[body.length - 1]!));
    }),
    async (sftp) => {
      const sizes = await Promise.all(["/a", "/b", "/c"].map(async (name) => (await sftp.stat(path(name))).size));
      assert.deepEqual(sizes, [..."abc"].map((letter) => letter.charCodeAt(0)));
    },
  );
});

Deno.test("an endless listing ends with too_large, and its folder is closed", async () => {
  let count = 0;
  const script = onPage(({ id, reply }) => reply(answer.names(id, Array.from({ length: 100 }, () => `${count++}`))));
  await withServer(script, async (sftp, { seen }) => {
    const error = await sftpErrorOf(listAll(sftp));
    assert.equal(error.kind, "too_large");
    assert.match(error.message, /more than 100000 entries/);
    await until(() => seen.includes(TYPE.close) && sftp.usage.handles === 0, "the folder is closed");
    assert(count < 103_000, `${count} entries were asked for`);
    assert.equal(sftp.ended, undefined);
  });
});

Deno.test("a listing of long names ends with too_large", async () => {
  const page = Array.from({ length: 60 }, (_, i) => `${i}`.padEnd(4096, "n"));
  await withServer(onPage(({ id, reply }) => reply(answer.names(id, page))), async (sftp) => {
    const error = await sftpErrorOf(listAll(sftp, { maxNameBytes: 1_000_000 }));
    assert.equal(error.kind, "too_large");
    assert.match(error.message, /names in the folder have more than 1000000 bytes/);
  });
});

Deno.test("an endless name ends the session while it arrives", async () => {
  let wrote = 0;
  const script = onPage(async ({ raw, channel, drained }) => {
    if (wrote > 0) return;
    raw(Buffer.from("00080000", "hex"));
    for (; !channel.destroyed && channel.writable && wrote < 64e6; wrote += 65536) {
      if (!channel.write(Buffer.alloc(65536, 0x61))) await drained();
    }
  });
  await withServer(script, async (sftp) => {
    assert.match((await sftpErrorOf(listAll(sftp))).message, /claims to have 524288 bytes/);
  });
});

Deno.test("a server's message is cut and escaped before it is shown", async () => {
  const said = "\u001b[2Jgone\n" + "x".repeat(100_000);
  await withServer(onStat(({ id, reply }) => reply(answer.status(id, 4, said))), async (sftp) => {
    const error = await sftpErrorOf(stat(sftp));
    assert.equal(error.kind, "failure");
    assert(error.message.length < 110, error.message);
    assert.match(error.message, /^The pod refused: \\u001b\[2Jgone\\u000ax+…$/);
  });
});

const kinds: readonly [number, string, SftpErrorKind][] = [
  [1, "", "failure"],
  [2, "", "not_found"],
  [3, "", "permission"],
  [4, "Failure", "failure"],
  [4, "No space left on device", "no_space"],
  [5, "", "invalid"],
  [8, "", "unsupported"],
  [14, "", "no_space"],
  [0xffff_ffff, "", "failure"],
];
Deno.test("status codes become the kinds they stand for", async () => {
  let row = 0;
  await withServer(
    onStat(({ id, reply }) => reply(answer.status(id, kinds[row]![0], kinds[row]![1]))),
    async (sftp) => {
      for (; row < kinds.length; row++) {
        const error = await sftpErrorOf(stat(sftp));
        assert.deepEqual([error.status, error.kind], [kinds[row]![0], kinds[row]![2]]);
      }
    },
  );
});

Deno.test("a call whose server never answers ends by its deadline, and the next caller gets another session", async () => {
  await withServer(onStat(() => {}), async (sftp, { again, sessions }) => {
    const error = await sftpErrorOf(sftp.stat(path("/f"), { deadlineMs: 100 }));
    assert.equal(error.kind, "timeout");
    assert.notEqual(await again(), sftp);
    assert.equal(sessions(), 2);
  });
});

Deno.test("an aborted call rejects with the signal's reason and leaves the session to others", async () => {
  let answerIt = () => {};
  const script = onStat(({ id, reply }) => (answerIt = () => reply(answer.attributes(id, 1))));
  await withServer(script, async (sftp, { again, seen }) => {
    const abort = new AbortController();
    const call = sftp.stat(path("/f"), { signal: abort.signal });
    await until(() => seen.includes(TYPE.stat), "the request arrived");
    abort.abort(new Error("gone away"));
    await assert.rejects(call, /gone away/);
    answerIt();
    await until(() => sftp.usage.pending === 0, "the late answer is taken");
    assert.equal(await again(), sftp);
  });
});

Deno.test("a handle that arrives after its open was aborted is closed", async () => {
  let openIt = () => {};
  const script: SftpScript = {
    on: (request) => {
      if (request.type === TYPE.open) openIt = () => request.reply(answer.handle(request.id));
      else honest(request);
    },
  };
  await withServer(script, async (sftp, { seen }) => {
    const abort = new AbortController();
    const call = sftp.open(path("/f"), "create", { signal: abort.signal });
    await until(() => seen.includes(TYPE.open), "the request arrived");
    abort.abort(new Error("gone away"));
    await assert.rejects(call, /gone away/);
    openIt();
    await until(() => seen.includes(TYPE.close) && sftp.usage.handles === 0, "the handle is closed");
  });
});

Deno.test("open refuses what is swapped for something else after the check, and closes it", async () => {
  const script: SftpScript = {
    on: (request) =>
      request.type === TYPE.fstat ? request.reply(answer.attributes(request.id, 0, MODE.directory)) : honest(request),
  };
  await withServer(script, async (sftp, { seen }) => {
    assert.equal((await sftpErrorOf(sftp.open(path("/f"), "read"))).kind, "not_a_file");
    await until(() => seen.includes(TYPE.close) && sftp.usage.handles === 0, "the handle is closed");
  });
});
