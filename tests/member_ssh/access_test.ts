/** Renewals against the real routes, in process, with a clock that the test moves. */
import assert from "node:assert/strict";
import { createApi } from "../../admin/client/api.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { type AccessDeps, renewAccess } from "../../admin/member_ssh/access.ts";
import { orgPlaces, placesOf, type PodPlaces, podPlaces } from "../../admin/member_ssh/places.ts";
import { insertHostKeyPin } from "../../db/stores/host_key_pins.ts";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import { newKeyPair } from "../../server/ssh/key_pair.ts";
import { withFolder } from "../demo/pods_support.ts";
import { act, type ClockedWorld, inWorld, ORG, refreshed } from "../pods/support.ts";
import { BASE_URL, createRunningPod, PEOPLE } from "../support/world.ts";

const TEN_SECONDS = 10_000;

interface Scene {
  readonly world: ClockedWorld;
  readonly id: string;
  readonly deps: AccessDeps;
  readonly places: PodPlaces;
  /** What was asked, `GET` or `POST`, since it was read last. */
  asked(): string[];
  /** While true the server cannot be reached. */
  isDown: boolean;
  renew(options?: { renew?: boolean }): ReturnType<typeof renewAccess>;
  certificate(): Promise<string>;
}

/** A member's computer with nothing on it yet, and a running pod open to all whose host key the server knows. */
async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  await withFolder((folder) =>
    inWorld({}, async (world) => {
      const id = await createRunningPod(world);
      world.clock.advance(2_000);
      const own = orgPlaces(placesOf(folder), "org");
      await Deno.mkdir(own.folder, { recursive: true });
      const places = podPlaces(own, id);
      const token = await world.token("member", "cli");
      let asked: string[] = [];
      const fetch = async (request: Request) => {
        if (scene.isDown) throw new Refusal("The server cannot be reached", 6);
        asked.push(request.method);
        request.headers.set("authorization", `Bearer ${token}`);
        return await world.app.fetch(request, { isOperator: false, account: "", address: "192.0.2.1" });
      };
      const api = createApi({ baseUrl: BASE_URL, isOperator: false, fetch, close: () => Promise.resolve() });
      const deps: AccessDeps = {
        clock: world.clock,
        org: "org",
        podId: id,
        places,
        publicKey: newKeyPair("laptop").line,
        hostKeyAlias: `org-${id}`,
        openApi: () => Promise.resolve(api),
      };
      const scene: Scene = {
        world,
        id,
        deps,
        places,
        isDown: false,
        asked: () => {
          const those = asked;
          asked = [];
          return those;
        },
        renew: (options = {}) => renewAccess(deps, { maxAgeMs: TEN_SECONDS, ...options }),
        certificate: () => Deno.readTextFile(places.certificate),
      };
      await use(scene);
    })
  );
}

function pin(world: ClockedWorld, id: string, key: string): void {
  const { pod, start } = world.db.get<{ pod: string; start: string }>(
    "select id as pod, start_key as start from compute_pods where runpod_id = ?",
    id,
  )!;
  insertHostKeyPin(
    world.db,
    { podId: pod, startKey: start, fingerprint: `SHA256:${key}`, publicKey: key },
    world.clock.now(),
  );
}

const modeOf = async (path: string) => (await Deno.stat(path)).mode! & 0o777;

Deno.test("renewAccess gets a certificate once, and asks the server again only after a while", () =>
  withScene(async ({ world, renew, asked, places, certificate, id }) => {
    const line = newKeyPair("host").line.split(" ").slice(0, 2).join(" ");
    pin(world, id, line);
    const first = await renew();
    assert.equal(first.warning, null);
    assert.deepEqual(asked(), ["POST"]);
    assert.equal(await Deno.readTextFile(places.knownHosts), `org-${id} ${line}\n`);
    for (const path of [places.certificate, places.knownHosts, places.state]) assert.equal(await modeOf(path), 0o600);
    const given = await certificate();
    assert.deepEqual(await renew(), first);
    assert.deepEqual(asked(), [], "asked a moment ago");
    world.clock.advance(TEN_SECONDS);
    assert.deepEqual(await renew(), first);
    assert.deepEqual(asked(), ["GET"]);
    assert.equal(await certificate(), given);
    await Deno.remove(places.certificate);
    await renew();
    assert.deepEqual(asked(), ["POST"]);
  }));

Deno.test("renewAccess renews a certificate that ends within ten minutes, and not before", () =>
  withScene(async ({ world, renew, asked, certificate }) => {
    await renew();
    const given = await certificate();
    world.clock.advance(12 * HOUR - 11 * MINUTE);
    await refreshed(world);
    asked();
    await renew();
    assert.deepEqual(asked(), ["GET"]);
    assert.equal(await certificate(), given);
    world.clock.advance(2 * MINUTE);
    await renew();
    assert.deepEqual(asked(), ["POST"]);
    assert.notEqual(await certificate(), given);
  }));

Deno.test("renewAccess renews what belongs to another key, is no certificate, or was revoked", () =>
  withScene(async ({ world, renew, asked, places, deps, certificate }) => {
    await renew();
    asked();
    await Deno.writeTextFile(places.certificate, "nonsense\n");
    await renew();
    assert.deepEqual(asked(), ["POST"]);
    const other = { ...deps, publicKey: newKeyPair("other").line };
    await renewAccess(other, { maxAgeMs: TEN_SECONDS });
    assert.deepEqual(asked(), ["POST"]);
    const given = await certificate();
    world.db.run("update compute_connections set revoked_at = ?", world.clock.now());
    world.clock.advance(TEN_SECONDS);
    await renewAccess(other, { maxAgeMs: TEN_SECONDS });
    assert.deepEqual(asked(), ["GET", "POST"]);
    assert.notEqual(await certificate(), given);
  }));

Deno.test("renewAccess follows a pod to another start, whose host key is not known yet", () =>
  withScene(async ({ world, id, renew, asked, places, certificate }) => {
    pin(world, id, newKeyPair("host").line.split(" ").slice(0, 2).join(" "));
    const before = await renew();
    const given = await certificate();
    await act(world, id, "stop");
    world.clock.advance(TEN_SECONDS);
    await assert.rejects(renew(), (error) => error instanceof Refusal && error.code === "pod_not_running");
    await act(world, id, "start");
    world.clock.advance(90_000);
    await refreshed(world);
    asked();
    const after = await renew();
    assert.deepEqual(asked(), ["GET", "POST"]);
    assert.notDeepEqual([after.host, after.port], [before.host, before.port]);
    assert.notEqual(await certificate(), given);
    assert.equal(await Deno.readTextFile(places.knownHosts), "", "the key of the old start is not believed");
    // ssh keeps the first key it sees; it stays for as long as the server has none of its own.
    await Deno.writeTextFile(places.knownHosts, "org-x ssh-ed25519 AAAA\n");
    world.clock.advance(TEN_SECONDS);
    await renew();
    assert.equal(await Deno.readTextFile(places.knownHosts), "org-x ssh-ed25519 AAAA\n");
  }));

Deno.test("renewAccess goes on with what is kept while the server is away, until the certificate ends", () =>
  withScene(async (scene) => {
    const { world, renew, deps } = scene;
    scene.isDown = true;
    await assert.rejects(renew(), /cannot be reached/);
    scene.isDown = false;
    const before = await renew();
    scene.isDown = true;
    world.clock.advance(12 * HOUR - MINUTE);
    const kept = await renew();
    assert.deepEqual([kept.host, kept.port], [before.host, before.port]);
    assert.match(kept.warning!, /^The server cannot be reached\. Trying the last known address\.$/);
    const signedOut = {
      ...deps,
      openApi: () => Promise.reject(new AppError("token_invalid", "You are not signed in")),
    };
    assert.match((await renewAccess(signedOut, { maxAgeMs: 0 })).warning!, /^You are not signed in\. /);
    world.clock.advance(MINUTE);
    await assert.rejects(renew(), /cannot be reached/);
  }));

Deno.test("renewAccess lets nobody go on whose access was taken away", () =>
  withScene(async ({ world, id, renew }) => {
    await renew();
    const body = { is_public: false, allowed_users: [PEOPLE.exOfficer] };
    assert.equal((await world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body })).status, 200);
    world.clock.advance(TEN_SECONDS);
    await assert.rejects(renew(), (error) => error instanceof Refusal && error.code === "pod_not_accessible");
  }));

Deno.test("renewAccess asks once when many come at the same time", () =>
  withScene(async ({ world, renew, asked }) => {
    const all = await Promise.all(Array.from({ length: 8 }, () => renew()));
    assert.deepEqual(asked(), ["POST"]);
    assert.equal(new Set(all.map(({ port }) => port)).size, 1);
    assert.equal(world.db.all("select * from compute_connections").length, 1);
  }));

Deno.test("renewAccess writes no line into known_hosts that is more than a key", () =>
  withScene(async ({ world, id, renew, places }) => {
    pin(world, id, "ssh-ed25519 AAAA\n* ssh-ed25519 BBBBBBBBBBBBBBBBBBBB");
    await assert.rejects(renew(), /not one that this version of orgpods understands/);
    await assert.rejects(Deno.stat(places.state), Deno.errors.NotFound);
  }));
