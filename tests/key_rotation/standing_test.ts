import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { type Standing, standingOf } from "../../server/key_rotation/standing.ts";

const STOPPED = {
  runpod_id: "p1",
  status: "EXITED",
  missing_count: 0,
  env_of: "p1",
  env_backend: "new",
  env_user_ca: "new",
  start_key: "s1",
  keys_start: "s1",
  files_backend: null,
  files_user_ca: null,
  login_key: null,
  start_env_backend: "new",
  start_env_user_ca: "new",
  setup_start: null,
  setup_state: null,
} as const;
const RUNNING = { ...STOPPED, status: "RUNNING" };
const OLD_ENV = { env_backend: "old", env_user_ca: "old" };
const REFUSED = { setup_start: "s1", setup_state: "refused" } as const;

const CASES: readonly (readonly [string, Partial<LivePod>, "backend" | "user_ca", Standing])[] = [
  ["stopped with the new env", STOPPED, "backend", "done"],
  ["stopped with the old env", { ...STOPPED, ...OLD_ENV }, "backend", "env_next"],
  ["stopped without the key in its env", { ...STOPPED, env_user_ca: "none" }, "user_ca", "env_next"],
  ["gone", { ...RUNNING, ...OLD_ENV, status: "GONE" }, "backend", "done"],
  ["missing from RunPod's last list", { ...STOPPED, missing_count: 1 }, "backend", "not_shown"],
  ["of which the env was not told", { ...STOPPED, env_backend: null }, "backend", "not_shown"],
  ["whose known env is that of an earlier RunPod pod", { ...STOPPED, env_of: "p0" }, "backend", "not_shown"],
  ["running with the old env", { ...RUNNING, ...OLD_ENV }, "backend", "stop_once"],
  ["starting with the old env", { ...RUNNING, ...OLD_ENV, status: "STARTING" }, "user_ca", "stop_once"],
  ["in a state of error with the old env", { ...STOPPED, ...OLD_ENV, status: "ERROR" }, "backend", "odd_state"],
  [
    "running with both in its files and the old env",
    {
      ...RUNNING,
      ...OLD_ENV,
      files_backend: '["new","old"]',
    },
    "backend",
    "stop_once",
  ],
  ["running with the new env, nothing known of its files", RUNNING, "backend", "files_next"],
  [
    "running with the new env and the new key in its files",
    { ...RUNNING, files_user_ca: '["new"]' },
    "user_ca",
    "done",
  ],
  ["running with the new env, and let the new key in", { ...RUNNING, login_key: "new" }, "backend", "done"],
  ["running, and a login says nothing of the CA", { ...RUNNING, login_key: "new" }, "user_ca", "files_next"],
  [
    "running, and what is known is of an earlier start",
    {
      ...RUNNING,
      keys_start: "s0",
      files_backend: '["new"]',
      login_key: "new",
    },
    "backend",
    "files_next",
  ],
  [
    "running with the old key in files that cannot be changed",
    {
      ...RUNNING,
      ...REFUSED,
      files_backend: '["old"]',
    },
    "backend",
    "restart_once",
  ],
  [
    "running on an image that keeps the key elsewhere, started with the new env",
    {
      ...RUNNING,
      ...REFUSED,
      files_user_ca: "[]",
    },
    "user_ca",
    "done",
  ],
  [
    "running on such an image, and which env it was started with is not known",
    {
      ...RUNNING,
      ...REFUSED,
      files_user_ca: "[]",
      start_env_user_ca: null,
    },
    "user_ca",
    "restart_once",
  ],
  ["running on an image that cannot be set up, not looked at yet", { ...RUNNING, ...REFUSED }, "backend", "files_next"],
];

for (const [what, pod, kind, wanted] of CASES) {
  Deno.test(`standingOf says ${wanted} of a pod ${what}`, () =>
    assert.equal(standingOf(pod as LivePod, { kind, new_fingerprint: "new", old_fingerprint: "old" }), wanted));
}
