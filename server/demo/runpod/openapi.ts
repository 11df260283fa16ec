/** `GET /openapi.json`: a true document of the part of RunPod v2 that the stand-in has. */
import { podAction, podCreate, podUpdate, sshKeys } from "./schemas.ts";

const bodies = {
  "POST /pods": ["PodCreate", podCreate, "201"],
  "PATCH /pods/{id}": ["PodUpdate", podUpdate, "200"],
  "POST /pods/{id}/action": ["PodAction", podAction, "200"],
  "PUT /account/ssh-keys": ["SshKeys", sshKeys, "200"],
} as const;

/** `routes` are the routes the router knows, as path pattern and methods. */
export function openapiDocument(routes: readonly { readonly path: string; readonly methods: readonly string[] }[]) {
  const paths = routes.map(({ path, methods }) => [
    `/v2${path}`,
    Object.fromEntries(methods.map((method) => [method.toLowerCase(), operation(`${method} ${path}`)])),
  ]);
  return {
    openapi: "3.1.0",
    info: { title: "RunPod REST API (stand-in)", version: "2.0.0" },
    servers: [{ url: "https://api.runpod.io" }],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(Object.values(bodies).map(([name, schema]) => [name, schema])),
    },
  };
}

function operation(route: string): unknown {
  const failure = { description: "problem", content: { "application/problem+json": { schema: { type: "object" } } } };
  const success = { description: "success" };
  const names = [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const parameters = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const body = Object.hasOwn(bodies, route) ? bodies[route as keyof typeof bodies] : null;
  const status = body?.[2] ?? (route.startsWith("DELETE ") ? "204" : "200");
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: `#/components/schemas/${body[0]}` } } },
        },
      }
      : {}),
    responses: { [status]: success, default: failure },
  };
}
