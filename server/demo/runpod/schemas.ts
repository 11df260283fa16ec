/**
 * The bodies RunPod v2 accepts, as JSON Schema. The same objects check requests and are published in openapi.json, so
 * the document cannot say something else than the check.
 */
import type { Schema } from "./schema_check.ts";

const words: Schema = { type: "array", items: { type: "string" } };
const cudaVersion: Schema = { type: "string", pattern: "^\\d+\\.\\d+$", description: "major.minor" };

const mounts: Schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    persistent: {
      type: "object",
      deprecated: true,
      additionalProperties: false,
      required: ["size", "path"],
      properties: { size: { type: "integer", minimum: 10 }, path: { type: "string", minLength: 1 } },
    },
    network: {
      type: "array",
      maxItems: 1,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["volumeId", "path"],
        properties: { volumeId: { type: "string", minLength: 1 }, path: { type: "string", minLength: 1 } },
      },
    },
  },
};

const common = {
  name: { type: "string", minLength: 1 },
  image: { type: "string", minLength: 1 },
  args: { type: "string" },
  disk: { type: "integer", minimum: 1, description: "Container disk in GB, wiped on stop and restart." },
  ports: { type: "array", items: { type: "string", pattern: "^[1-9]\\d{0,4}/(tcp|http)$" } },
  env: { type: "object", additionalProperties: { type: "string" } },
  registry: { type: ["string", "null"] },
  mounts,
  globalNetworking: { type: "boolean" },
  templateId: { type: "string", minLength: 1 },
} as const satisfies Record<string, Schema>;

/** `POST /pods`. */
export const podCreate: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    ...common,
    gpu: {
      type: "object",
      additionalProperties: false,
      required: ["id"],
      properties: {
        id: { type: "string", minLength: 1 },
        count: { type: "integer", minimum: 1, default: 1 },
        allowedCudaVersions: { type: "array", items: cudaVersion },
        minCudaVersion: cudaVersion,
        minRamPerGpu: { type: "integer", minimum: 1 },
        minVcpuCountPerGpu: { type: "integer", minimum: 1 },
      },
    },
    cpu: {
      type: "object",
      additionalProperties: false,
      required: ["id", "vcpuCount"],
      properties: { id: { type: "string", minLength: 1 }, vcpuCount: { type: "integer", minimum: 2 } },
    },
    cloud: { type: "string", enum: ["SECURE", "COMMUNITY"], default: "SECURE" },
    dataCenterIds: words,
    entrypoint: words,
    cmd: words,
    startSsh: { type: "boolean", default: false },
    startJupyter: { type: "boolean", default: false },
  },
};

/** `PATCH /pods/{id}`: an omitted field stays as it is. */
export const podUpdate: Schema = {
  type: "object",
  additionalProperties: false,
  properties: { ...common, locked: { type: "boolean" } },
};

/** `POST /pods/{id}/action`. */
export const podAction: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["action"],
  properties: { action: { type: "string", enum: ["start", "stop", "restart", "terminate"] } },
};

/** `PUT /account/ssh-keys`: replaces all keys. */
export const sshKeys: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["keys"],
  properties: { keys: words },
};

export interface PersistentMount {
  readonly size: number;
  readonly path: string;
}

export interface NetworkMount {
  readonly volumeId: string;
  readonly path: string;
}

export interface Mounts {
  readonly persistent?: PersistentMount;
  readonly network?: readonly NetworkMount[];
}

/** A body that fits `podUpdate`. */
export interface UpdateBody {
  readonly name?: string;
  readonly image?: string;
  readonly args?: string;
  readonly disk?: number;
  readonly ports?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly registry?: string | null;
  readonly mounts?: Mounts;
  readonly globalNetworking?: boolean;
  readonly templateId?: string;
  readonly locked?: boolean;
}

/** A body that fits `podCreate`. */
export interface CreateBody extends Omit<UpdateBody, "locked"> {
  readonly name: string;
  readonly gpu?: {
    readonly id: string;
    readonly count?: number;
    readonly allowedCudaVersions?: readonly string[];
    readonly minCudaVersion?: string;
    readonly minRamPerGpu?: number;
    readonly minVcpuCountPerGpu?: number;
  };
  readonly cpu?: { readonly id: string; readonly vcpuCount: number };
  readonly cloud?: Cloud;
  readonly dataCenterIds?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly startSsh?: boolean;
  readonly startJupyter?: boolean;
}

export type Cloud = "SECURE" | "COMMUNITY";
export type ActionWord = "start" | "stop" | "restart" | "terminate";
