import { Hono } from "hono";
import { AppError } from "../errors.ts";
import { json, query } from "../http/body.ts";
import type { Env } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { explainFailure, SftpError } from "../ssh/sftp/mod.ts";
import { deleteFile } from "./delete.ts";
import type { FileDeps } from "./deps.ts";
import { listFolder, statFile } from "./entries.ts";
import { contentTag } from "./etag.ts";
import { auditPath, pathFields, shownName, splitPath } from "./path.ts";
import { auditedOnPod, onPod } from "./perform.ts";
import { entryPlaceOf, lstatOrMissing } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { readText } from "./read_text.ts";
import { renameFile } from "./rename.ts";
import { occupied, replaceFile } from "./replace_file.ts";
import { listQuery, pathSchema, readSchema, renameSchema, writeSchema } from "./schemas.ts";
import { uploadTooLarge } from "./upload.ts";

/** Six bytes of JSON for one of text at the most, and room for the other fields. */
export const writeBodyLimit = (textLimit: number) => 6 * textLimit + 64 * 1024;

/** Officer routes about the files of a running pod, under `/api/compute/<org>/pods/<id>/files`; contract section 9. */
export function fileRoutes(deps: FileDeps & { readonly guards: Guards }) {
  const { officer } = deps.guards;
  const { text: textLimit } = deps.fileLimits;
  const writeBody = { maxBytes: writeBodyLimit(textLimit), mayHoldNul: "content" };
  return new Hono<Env>()
    .get("/pods/:id/files", officer, query(listQuery), async (c) => {
      const { path, limit, cursor } = c.req.valid("query");
      return c.json(await onPod(deps, c, (session) => listFolder(deps, session, path, { limit, cursor })));
    })
    .post("/pods/:id/files/stat", officer, json(pathSchema), async (c) => {
      const { path } = c.req.valid("json");
      return c.json(await onPod(deps, c, (session) => statFile(session, path)));
    })
    .post("/pods/:id/files/read", officer, json(readSchema), async (c) => {
      const { path, lossy } = c.req.valid("json");
      const read = (session: PodSession) => readText(deps, session, path, { lossy });
      return c.json(await auditedOnPod(deps, c, () => auditPath(path), read));
    })
    .post("/pods/:id/files/write", officer, json(writeSchema(textLimit), writeBody), async (c) => {
      const { path, content, ifMatch, wasLossy } = c.req.valid("json");
      const write = async (session: PodSession) => {
        if (wasLossy) {
          throw new AppError("not_text", "Text with replaced bytes must not be saved: it would ruin the file");
        }
        const source = new Blob([content]).stream();
        return await replaceFile(deps, session, path, { source, maxBytes: textLimit, ifMatch }).catch((error) => {
          throw error instanceof SftpError && error.kind === "too_large" ? uploadTooLarge(textLimit) : error;
        });
      };
      const details = () => ({ ...auditPath(path), size: content.length });
      await auditedOnPod(deps, c, details, write);
      return c.json({ ...pathFields(path), size: content.length, etag: contentTag(content) });
    })
    .post("/pods/:id/files/mkdir", officer, json(pathSchema), async (c) => {
      const { path } = c.req.valid("json");
      await auditedOnPod(deps, c, () => auditPath(path), (session) => makeFolder(session, path));
      return c.json(pathFields(path));
    })
    .post("/pods/:id/files/rename", officer, json(renameSchema), async (c) => {
      const { from, to } = c.req.valid("json");
      const details = () => ({ ...auditPath(from), to: auditPath(to) });
      await auditedOnPod(deps, c, details, (session) => renameFile(deps, session, from, to));
      return c.json(pathFields(to));
    })
    .post("/pods/:id/files/delete", officer, json(pathSchema), async (c) => {
      const { path } = c.req.valid("json");
      await auditedOnPod(deps, c, () => auditPath(path), (session) => deleteFile(deps, session, path));
      const { text, b64 } = shownName(path);
      return c.json(b64 === undefined ? { deleted: text } : { deleted: text, deleted_b64: b64 });
    });
}

/** Throws `pod_refused` when something is there already, and SftpErrors. */
async function makeFolder(session: PodSession, path: Uint8Array): Promise<void> {
  const place = await entryPlaceOf(session.root, path, session.call);
  const sftp = await session.as(place.user);
  try {
    await sftp.makeDirectory(place.path, session.call);
  } catch (error) {
    if (!(error instanceof SftpError && error.kind === "failure")) throw error;
    if (await lstatOrMissing(sftp, place.path, session.call) !== undefined) throw occupied();
    throw await explainFailure(sftp, splitPath(place.path)?.parent ?? place.path, error);
  }
}
