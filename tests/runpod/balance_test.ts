import assert from "node:assert/strict";
import { failure, KEY, problem, testClient, withServer } from "./support.ts";

Deno.test("client.balance asks GraphQL at the host of the base URL", async () => {
  const answer = () => Response.json({ data: { myself: { clientBalance: 12.5, currentSpendPerHr: 0.4 } } });
  await withServer([answer], async (server) => {
    assert.deepEqual(await testClient(server.url).client.balance(), { balance: 12.5, spendPerHour: 0.4 });
    const [seen] = server.seen;
    assert.equal(seen?.path, "/graphql");
    assert.equal(seen?.headers.get("authorization"), `Bearer ${KEY}`);
    assert.deepEqual(JSON.parse(seen?.body ?? ""), { query: "query { myself { clientBalance currentSpendPerHr } }" });
  });
});

Deno.test("client.balance leaves the spend open when RunPod does not tell it", async () => {
  await withServer([() => Response.json({ data: { myself: { clientBalance: 0 } } })], async (server) => {
    assert.deepEqual(await testClient(server.url).client.balance(), { balance: 0, spendPerHour: null });
  });
});

Deno.test("client.balance fails with auth when the key may not read the account", async () => {
  const answers = [
    () => Response.json({ data: { myself: null } }),
    () => Response.json({ errors: [{ message: "no", extensions: { code: "FORBIDDEN" } }], data: null }),
    () => problem(401, "unauthorized"),
  ];
  await withServer(answers, async (server) => {
    const { client } = testClient(server.url);
    for (let i = 0; i < answers.length; i++) assert.equal((await failure(client.balance())).kind, "auth");
  });
});

Deno.test("client.balance fails with upstream when the answer is an error or no balance", async () => {
  const answers = [
    () =>
      Response.json({ errors: [{ message: "Something went wrong", extensions: { code: "INTERNAL_SERVER_ERROR" } }] }),
    () => Response.json({ data: { myself: { clientBalance: "12" } } }),
    () => Response.json([]),
  ];
  await withServer(answers, async (server) => {
    const { client } = testClient(server.url);
    assert.match((await failure(client.balance())).detail, /Something went wrong/);
    for (let i = 1; i < answers.length; i++) assert.equal((await failure(client.balance())).kind, "upstream");
  });
});
