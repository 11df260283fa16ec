import { type Context, Hono } from "hono";
import { AppError } from "../errors.ts";
import { json, query } from "../http/body.ts";
import type { Env } from "../http/env.ts";
import { type Guards, ownPages } from "../http/guards.ts";
import { boundaryOf, multipartParts } from "../http/multipart.ts";
import { archive } from "./archive.ts";
import { clientBody } from "./client_body.ts";
import type { FileDeps } from "./deps.ts";
import { download } from "./download.ts";
import { auditPath, pathFields } from "./path.ts";
import { auditedOnPod } from "./perform.ts";
import { pathQuery, pathSchema, uploadFolderQuery, uploadQuery } from "./schemas.ts";
import { type Uploaded, uploadForm, uploadTo, uploadTooLarge } from "./upload.ts";

/** A form is a little longer than the file in it. */
const FORM_BYTES = 64 * 1024;

/** Officer routes that move whole files, beside those of `fileRoutes`. Nothing of a file is held but what is on its way. */
export function transferRoutes(deps: FileDeps & { readonly guards: Guards }) {
  const { officer } = deps.guards;
  const { transfer } = deps.fileLimits;

  const answerDownload = (c: Context<Env>, path: Uint8Array) =>
    auditedOnPod(
      deps,
      c,
      () => ({ ...auditPath(path), range: c.req.header("range") ?? null }),
      (session) =>
        download(deps, session, { path, isHead: c.req.method === "HEAD", header: (name) => c.req.header(name) }),
    );

  const answerUpload = (c: Context<Env>, uploaded: Uploaded) =>
    c.json({ ...pathFields(uploaded.path), size: uploaded.size, etag: uploaded.etag });

  const uploadDetails = (uploaded: Uploaded | undefined, asked: Uint8Array | null) => {
    const path = uploaded?.path ?? asked;
    return { ...(path === null ? {} : auditPath(path)), size: uploaded?.size ?? null };
  };

  return new Hono<Env>()
    // Also for HEAD, which Hono answers by this route.
    .get(
      "/pods/:id/files/download",
      officer,
      ownPages,
      query(pathQuery),
      (c) => answerDownload(c, c.req.valid("query").path),
    )
    .post("/pods/:id/files/download", officer, json(pathSchema), (c) => answerDownload(c, c.req.valid("json").path))
    .post("/pods/:id/files/archive", officer, json(pathSchema), async (c) => {
      const { path } = c.req.valid("json");
      return await auditedOnPod(deps, c, () => auditPath(path), (session) => archive(deps, session, path));
    })
    .post("/pods/:id/files/upload", officer, query(uploadFolderQuery), async (c) => {
      const { folder } = c.req.valid("query");
      const boundary = boundaryOf(c.req.header("content-type"));
      if (boundary === null) throw new AppError("invalid_request", "Send the file as multipart field file");
      if ((lengthOf(c) ?? 0) > transfer + FORM_BYTES) throw uploadTooLarge(transfer);
      const uploaded = await auditedOnPod<Uploaded>(deps, c, (done) => uploadDetails(done, folder), (session) => {
        const limit = { maxBytes: transfer + FORM_BYTES, error: () => uploadTooLarge(transfer) };
        const body = clientBody(c.req.raw.body, deps.fileTimings.clientMs, limit);
        return uploadForm(deps, session, multipartParts(body, boundary), folder);
      });
      return answerUpload(c, uploaded);
    })
    .put("/pods/:id/files/upload", officer, query(uploadQuery), async (c) => {
      const { path, ifMatch, mustBeNew } = c.req.valid("query");
      const size = lengthOf(c);
      if ((size ?? 0) > transfer) throw uploadTooLarge(transfer);
      const uploaded = await auditedOnPod<Uploaded>(deps, c, (done) => uploadDetails(done, path), (session) => {
        const source = clientBody(c.req.raw.body, deps.fileTimings.clientMs);
        return uploadTo(deps, session, path, { source, size, ifMatch, mustBeNew });
      });
      return answerUpload(c, uploaded);
    });
}

/** What Content-Length says; undefined for a body sent in pieces. */
function lengthOf(c: Context<Env>): number | undefined {
  const text = c.req.header("content-length");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
