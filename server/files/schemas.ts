/** What the file routes take. Paths are checked by `pathOf`, because a field and its `_b64` form go together. */
import { z } from "zod";
import { pathOf } from "./path.ts";

/** The folder that is meant when none is named. */
export const DEFAULT_FOLDER = "/workspace";

const text = (field: string) => z.string(`${field} must be an absolute path`).optional();
const base64 = (field: string) => z.string(`${field} must be base64 of an absolute path`).optional();
const flag = (field: string) => z.boolean(`${field} must be true or false`).default(false);

/** A transform for bodies whose fields are all known and right: what is wrong with them is told before the path. */
const onceRight = <G, T>(read: (given: G) => T) => (given: G, context: { readonly issues: readonly unknown[] }): T =>
  context.issues.length > 0 ? z.NEVER : read(given);

const ONE_PATH = { path: text("path"), path_b64: base64("path_b64") };
const onePath = (given: { path?: string | undefined; path_b64?: string | undefined }) =>
  pathOf("path", { text: given.path, base64: given.path_b64 });

/** `{path}` alone: download, mkdir, delete, stat, archive. */
export const pathSchema = z.strictObject(ONE_PATH).transform(onceRight((given) => ({ path: onePath(given) })));

export const readSchema = z.strictObject({ ...ONE_PATH, lossy: flag("lossy") })
  .transform(onceRight((given) => ({ path: onePath(given), lossy: given.lossy })));

const ETAG = "if_match must be an ETag that a read, a download or stat gave";
const etag = z.string(ETAG).regex(/^"[\x21\x23-\x7e]{1,100}"$/, ETAG).optional();

/** `content` is checked against the limit in bytes by the operation. */
export const writeSchema = (maxBytes: number) => {
  const sentence = `content must be text of at most ${maxBytes} bytes`;
  return z.strictObject({
    ...ONE_PATH,
    content: z.string(sentence).refine((content) => content.isWellFormed(), sentence)
      .transform((content) => new TextEncoder().encode(content))
      .refine((content) => content.length <= maxBytes, sentence),
    if_match: etag,
    was_lossy: flag("was_lossy"),
  }).transform(onceRight((given) => ({
    path: onePath(given),
    content: given.content,
    ifMatch: given.if_match,
    wasLossy: given.was_lossy,
  })));
};

export const renameSchema = z.strictObject({
  old_path: text("old_path"),
  old_path_b64: base64("old_path_b64"),
  new_path: text("new_path"),
  new_path_b64: base64("new_path_b64"),
}).transform(onceRight((given) => ({
  from: pathOf("old_path", { text: given.old_path, base64: given.old_path_b64 }),
  to: pathOf("new_path", { text: given.new_path, base64: given.new_path_b64 }),
})));

const LIMIT = "limit must be a whole number from 1 to 10000";
const CURSOR = "cursor must be one that a list gave";

/** GET files: a page of a folder. */
export const listQuery = z.looseObject({
  ...ONE_PATH,
  limit: z.string(LIMIT).regex(/^\d{1,5}$/, LIMIT).transform(Number)
    .refine((limit) => limit >= 1 && limit <= 10_000, LIMIT).default(10_000),
  cursor: z.string(CURSOR).regex(/^[df][A-Za-z0-9_-]{1,400}$/, CURSOR).optional(),
}).transform(onceRight((given) => ({
  path: pathOf("path", { text: given.path, base64: given.path_b64 }, DEFAULT_FOLDER),
  limit: given.limit,
  cursor: given.cursor,
})));

/** GET files/download. */
export const pathQuery = z.looseObject(ONE_PATH).transform(onceRight((given) => ({ path: onePath(given) })));

/** PUT files/upload: the body is the file, `path` its whole path. */
export const uploadQuery = z.looseObject({
  ...ONE_PATH,
  if_match: etag,
  must_be_new: z.enum(["true", "false"], "must_be_new must be true or false").default("false"),
}).refine(
  (given) => given.if_match === undefined || given.must_be_new === "false",
  "if_match and must_be_new exclude each other",
)
  .transform(onceRight((given) => ({
    path: onePath(given),
    ifMatch: given.if_match,
    mustBeNew: given.must_be_new === "true",
  })));

/** POST files/upload: the folder may be named here too, for clients that send the file before the field `path`. */
export const uploadFolderQuery = z.looseObject(ONE_PATH).transform(({ path, path_b64 }) => ({
  folder: path === undefined && path_b64 === undefined ? null : onePath({ path, path_b64 }),
}));
