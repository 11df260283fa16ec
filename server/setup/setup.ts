import { storeClockOffset, storeSetup, storeTrust, storeTrustError } from "../../db/stores/pod_setup.ts";
import { storeDeliveredKeys } from "../../db/stores/pod_keys.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { type LivePod, livePods, podById } from "../../db/stores/pods.ts";
import { MINUTE, SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { lazily } from "../lazily.ts";
import { atMost } from "../at_most.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import { type PodImageFile, podImageFiles } from "../pod_image/files.ts";
import type { PodTarget } from "../ssh/pool.ts";
import { createTurns } from "../turns.ts";
import { isOver, type Wait } from "../wait.ts";
import { within } from "../within.ts";
import { deliverTrust, type Failure } from "./deliver.ts";
import { DROP_IN, LOOK, parseLook, type PodFacts } from "./look.ts";
import { planSetup } from "./plan.ts";
import { pushSetup, type PushStep } from "./push.ts";
import type { RemoteFile } from "./remote_shell.ts";
import { remoteFile, type Trust, trustOf } from "./trust.ts";
import { tryCertificate } from "./try_certificate.ts";
import { lowerFirst } from "./text.ts";

/** After a set-up that failed the next one waits. */
const AGAIN_MS = 5 * MINUTE;
/** After one whose connection broke: what is known about the pod has not changed. */
const BROKEN_AGAIN_MS = 20 * SECOND;
const LOOK_MS = 10_000;
const DELIVERIES_AT_ONCE = 8;

/** Whether the pod keeps the rules about who comes in, in its present start. */
export type SetUp =
  | { readonly kind: "ready" }
  /** It lets people in by its own rules: revoked certificates may work there. */
  | { readonly kind: "weak"; readonly reason: string }
  | { readonly kind: "pending" };

export interface PodSetup {
  /**
   * Sets the pod up unless that was done in its present start; joined by all who ask. Resolves after `waitMs` at the
   * latest, and never rejects for what a pod does.
   */
  ensure(pod: LivePod, waitMs: number): Promise<SetUp>;
  /** What is known without asking the pod. */
  known(pod: LivePod): SetUp;
  /** Delivers list and keys as they are now to a pod that is set up; why it could not be. */
  deliver(pod: LivePod): Promise<Failure>;
  /** Delivers to each running pod of the org that has not the present list and keys. */
  bringUpToDate(org: Org): Promise<void>;
  /** In the background: sets each running pod of the org up. */
  lookAt(org: Org): void;
  close(): Promise<void>;
}

export interface SetupOptions {
  /** For tests: called before each step of a push. */
  readonly beforeStep?: (step: PushStep) => void | Promise<void>;
  readonly takeBackAfterS?: number;
}

const loadImage = lazily(podImageFiles);

export function createPodSetup(deps: PodDeps, options: SetupOptions = {}): PodSetup {
  const { db, clock, log, ssh } = deps;
  const running = new Map<string, Promise<void>>();
  /** By pod and start: a new start is set up at once. */
  const postponed = new Map<string, Wait>();
  const startOf = (pod: LivePod) => `${pod.id}/${pod.start_key}`;
  const postpone = (pod: LivePod, ms: number) => {
    const from = clock.now();
    postponed.set(startOf(pod), { from, until: from + ms });
  };
  const deliveries = createTurns();
  let closed = false;

  const known = (pod: LivePod): SetUp => {
    const row = podById(db, pod.id);
    if (row === undefined || row.start_key === null || row.setup_start !== row.start_key) return { kind: "pending" };
    if (row.setup_state === "refused") return { kind: "weak", reason: row.setup_reason ?? "" };
    // Before the first delivery our own image lets nobody in by certificate.
    return row.trust_digest === null ? { kind: "pending" } : { kind: "ready" };
  };

  const look = async (target: PodTarget): Promise<PodFacts | string | null> => {
    const askedAt = clock.now();
    const { stdout } = await ssh.exec(target, "exec /bin/sh -s", {
      stdin: LOOK,
      deadlineMs: LOOK_MS,
      maxOutputBytes: 64 * 1024,
    });
    const facts = parseLook(new TextDecoder().decode(stdout));
    // The pod tells whole seconds: the middle of its second is compared with the middle of the question.
    if (facts !== null && typeof facts !== "string") {
      storeClockOffset(db, target.podKey, Math.round(facts.clock + 500 - (askedAt + clock.now()) / 2));
    }
    return facts;
  };

  const push = async (pod: LivePod, target: PodTarget, facts: PodFacts, trust: Trust, dropIn: RemoteFile) => {
    // Taken now: `trust` would not have the key of a rotation that begins meanwhile.
    const { signer } = await deps.keys.caSigner(pod.org_id);
    return await pushSetup({
      ssh,
      target,
      facts: facts as Parameters<typeof pushSetup>[0]["facts"],
      files: [
        ...trust.files,
        remoteFile("/etc/ssh/godfather_principals/root", 0o644, `gf-${pod.runpod_id}\n`),
        ...programs(await loadImage()),
      ],
      dropIn,
      tryCertificate: () =>
        tryCertificate(ssh, target, {
          principal: `gf-${pod.runpod_id}`,
          ca: signer,
          podClock: clock.now() + (podById(db, pod.id)?.clock_offset_ms ?? 0),
        }),
      ...(options.beforeStep === undefined ? {} : { before: options.beforeStep }),
      ...(options.takeBackAfterS === undefined ? {} : { takeBackAfterS: options.takeBackAfterS }),
    });
  };

  const setUp = async (pod: LivePod): Promise<void> => {
    const target = targetOf(deps, pod);
    const org = orgById(db, pod.org_id);
    const facts = await look(target);
    if (facts === null) throw new AppError("pod_command_failed", "The command on the pod failed");
    const refuse = (reason: string) => {
      storeSetup(db, pod.id, { start: target.startKey, state: "refused", reason }, clock.now());
      postpone(pod, AGAIN_MS);
      log.warn("A pod could not be set up", { pod: pod.id, reason });
    };
    if (typeof facts === "string") return refuse(facts);
    const trust = org === undefined ? null : trustOf(db, org, clock.now());
    if (trust === null) return refuse("The organization has no keys yet");
    const dropIn = remoteFile(DROP_IN, 0o644, dropInText(await loadImage()));
    const plan = planSetup(facts, dropIn.sha256);
    if (plan.kind === "refuse") return refuse(plan.reason);
    if (plan.kind === "push" && !plan.isDone) {
      const failure = await push(pod, target, facts, trust, dropIn);
      if (failure !== null) return refuse(`The set-up was not possible: ${failure}`);
    }
    const state = plan.kind === "image" ? "image" : "pushed";
    storeSetup(db, pod.id, { start: target.startKey, state, reason: null }, clock.now());
    postponed.delete(startOf(pod));
    if (await deliverNow(pod, target, trust) !== null) return postpone(pod, MINUTE);
    log.info("A pod is set up", { pod: pod.id, state });
  };

  const deliverNow = async (pod: LivePod, target: PodTarget, trust: Trust): Promise<Failure> => {
    const failure = await deliverTrust(ssh, target, trust);
    if (failure === null) {
      db.tx(() => {
        storeTrust(db, pod.id, target.startKey, trust.digest);
        storeDeliveredKeys(db, pod.id, target.startKey, trust.keys);
      });
    } else {
      storeTrustError(db, pod.id, target.startKey, failure);
      log.warn("Revocation list and keys could not be brought to a pod", { pod: pod.id, reason: failure });
    }
    return failure;
  };

  /** Two officers removing at once: each delivers what is true when its turn comes. */
  const deliver = (pod: LivePod): Promise<Failure> =>
    deliveries.take(pod.id, async () => {
      const now = podById(db, pod.id) as LivePod | undefined;
      const org = orgById(db, pod.org_id);
      if (now === undefined || org === undefined) return "it is gone";
      if (now.setup_start !== now.start_key || now.setup_state === "refused") {
        return lowerFirst(now.setup_reason ?? "it is not set up yet");
      }
      const trust = trustOf(db, org, clock.now());
      if (trust === null || now.trust_digest === trust.digest) return null;
      try {
        return await deliverNow(now, targetOf(deps, now), trust);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return lowerFirst(error.message);
      }
    });

  const begin = (pod: LivePod): Promise<void> => {
    const key = `${pod.id}/${pod.start_key}/${pod.host}:${pod.port}`;
    const before = running.get(key);
    if (before !== undefined) return before;
    const work = deliveries.take(pod.id, () => setUp(pod)).catch((error) => {
      postpone(pod, BROKEN_AGAIN_MS);
      if (!(error instanceof AppError)) {
        log.error("A pod could not be set up", { pod: pod.id, error: describeError(error) });
      }
    }).finally(() => running.delete(key));
    running.set(key, work);
    return work;
  };

  const isDue = (pod: LivePod): boolean =>
    !closed && pod.status === "RUNNING" && pod.host !== null && pod.start_key !== null &&
    isOver(postponed.get(startOf(pod)), clock.now()) &&
    (pod.setup_start !== pod.start_key || pod.setup_state === "refused" || pod.trust_digest === null);

  return {
    known,
    deliver,
    async ensure(pod, waitMs) {
      const now = podById(db, pod.id) as LivePod | undefined;
      if (now !== undefined && isDue(now)) await within(begin(now), waitMs, () => {});
      return known(pod);
    },
    async bringUpToDate(org) {
      const pods = livePods(db, org.id).filter((pod) =>
        pod.status === "RUNNING" && pod.setup_start === pod.start_key && pod.setup_state !== "refused"
      );
      const wanted = pods.length === 0 ? null : trustOf(db, org, clock.now());
      const behind = pods.filter((pod) => pod.trust_digest !== wanted?.digest);
      await atMost(DELIVERIES_AT_ONCE, behind, async (pod) => {
        if (!closed) await deliver(pod);
      });
    },
    lookAt(org) {
      for (const pod of livePods(db, org.id)) if (isDue(pod)) void begin(pod);
    },
    async close() {
      closed = true;
      await Promise.allSettled([...running.values()]);
      await deliveries.idle();
    },
  };
}

/** The programs of our image that other images get, the login program last: it is the one people run. */
function programs(image: readonly PodImageFile[]) {
  const wanted = [
    "usr/lib/godfather/",
    "etc/profile.d/",
    "etc/godfather/admin.bashrc",
    "etc/godfather/user.bashrc",
    "usr/local/bin/",
  ];
  return image.filter((file) => wanted.some((path) => file.path.startsWith(path)))
    .sort((a, b) => Number(a.path.includes("godfather-login")) - Number(b.path.includes("godfather-login")))
    .map((file) => remoteFile(`/${file.path}`, file.mode, file.text));
}

function dropInText(image: readonly PodImageFile[]): string {
  const file = image.find(({ path }) => path === "etc/ssh/sshd_config.d/godfather.conf");
  if (file === undefined) throw new TypeError("The pod image has no sshd drop-in");
  return file.text;
}
