/** Answers in the shapes that Discord gives them. */

/** A JSON answer. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

/** An error of the API: `{message, code, errors?}`. */
export function apiError(status: number, code: number, message: string, errors?: unknown): Response {
  return json({ message, code, ...(errors === undefined ? {} : { errors }) }, status);
}

export const unauthorized = () => apiError(401, 0, "401: Unauthorized");
export const notFound = () => apiError(404, 0, "404: Not Found");
export const methodNotAllowed = (allow: string) => {
  const answer = apiError(405, 0, "405: Method Not Allowed");
  answer.headers.set("Allow", allow);
  return answer;
};
export const unknownGuild = () => apiError(404, 10004, "Unknown Guild");
export const unknownMember = () => apiError(404, 10007, "Unknown Member");
export const unknownRole = () => apiError(404, 10011, "Unknown Role");
export const unknownUser = () => apiError(404, 10013, "Unknown User");
export const missingAccess = () => apiError(403, 50001, "Missing Access");
export const missingScope = () => apiError(403, 50026, "Missing required OAuth2 scope");
export const invalidApiVersion = () => apiError(400, 50041, "Invalid API version");

/** 400 50035 for one bad value: `field` is the parameter's name, `code` the kind of fault in Discord's words. */
export function invalidForm(field: string, code: string, message: string): Response {
  return apiError(400, 50035, "Invalid Form Body", { [field]: { _errors: [{ code, message }] } });
}

/** An error of the OAuth endpoints: `{error, error_description?}`. */
export function oauthError(status: number, error: string, description?: string): Response {
  return json({ error, ...(description === undefined ? {} : { error_description: description }) }, status);
}

/** A page of the network in front of Discord, which knows nothing of the API's shapes. */
export function edgePage(status: number, title: string): Response {
  const page = `<!DOCTYPE html>\n<html lang="en-US"><head><title>${title} | discord.com</title></head>\n` +
    `<body><h1>${title}</h1><p>Cloudflare Ray ID: 8f0000000000demo</p></body></html>\n`;
  return new Response(page, {
    status,
    headers: { "Content-Type": "text/html; charset=UTF-8", "Server": "cloudflare" },
  });
}
