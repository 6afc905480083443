import { type OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import { errorBodySchema, type RepoType } from "@keyhook/sdk";
import type { Context, MiddlewareHandler } from "hono";
import type { Actor, Publisher, TokenHolder } from "#core/access/actor.ts";
import type { AuditToken, RequestOrigin } from "#core/audit/request-origin.ts";
import { invalidRequest } from "#core/errors.ts";
import { SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";
import type { PresentedPlatform } from "#core/hub/platforms/platform.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import type { Bearer } from "#core/oauth/tokens/find-bearer.ts";
import { actorOf, requirePersonsToken, requireToken } from "./actor.ts";
import { repeatableLookup, requireHolder } from "./bearer.ts";
import { type Address, type Caller, families, type Operation, operationOf } from "./openapi/operation.ts";
import { takesBody } from "./refuse-bad-input.ts";
import { requirePlatform } from "./require-platform.ts";

export type Route = (api: OpenAPIHono) => void;

type Actors = {
  anyone: { actor: Actor };
  token: { actor: TokenHolder | Publisher };
  user: { actor: TokenHolder; account: Bearer["account"] };
  platform: { platform: PresentedPlatform };
};

type Definition<Line extends string, Who extends Caller, Params, Query, Body, Responses> = Operation & {
  actor?: Who;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Whether the body may be absent. The handler then gets the result of parsing `{}`. */
  isBodyOptional?: true;
  /** Describes the body in the document if the handler reads the body itself. */
  rawBody?: NonNullable<RouteConfig["request"]>["body"];
  /** Default: 64 KiB. Larger bodies require a token before they are read. */
  maxBodyBytes?: number;
  isBodyStreamed?: true;
  responses: Responses;
  cacheControl?: string;
  handle(request: Handled<Line, Who, Params, Query, Body>): MaybePromise<AnswerOf<Responses> | Response>;
};

type Handled<Line extends string, Who extends Caller, Params, Query, Body> = {
  c: Context;
  origin: RequestOrigin;
  params: ParamsOf<Line, Params>;
  query: z.output<Query>;
  body: z.output<Body>;
} & ([Who] extends [never] ? unknown : Actors[Who] & { actorNow: ActorNow<Actors[Who]> }) &
  (Line extends `${string}{TYPES}${string}` ? { type: RepoType } : unknown) &
  (Line extends `${string}/${"{TYPES}" | "spaces"}/{owner}/{name}${string}` ? { repo: RepoName } : unknown);

/** Looks the actor up again, because the token may be revoked during a long request (S112, S114). */
type ActorNow<Found> = Found extends { actor: infer One } ? () => Promise<One> : never;

type Names<Line extends string> = Line extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

type ParamsOf<Line extends string, Params> = {
  [Name in Exclude<Names<Line>, keyof typeof families>]: Name extends keyof Params ? z.output<Params[Name]> : string;
} & (Line extends `${string}{${"WEBHOOKS" | "APPS"}}${string}` ? { name?: string } : unknown);

type AnswerOf<Responses> = Responses extends { 200: { content: { "application/json": { schema: infer Schema } } } }
  ? z.input<Schema>
  : never;

type MaybePromise<T> = T | Promise<T>;

/** @param line method and path. `{TYPES}`, `{WEBHOOKS}` and `{APPS}` stand for several URLs (`families`) */
export function defineRoute<
  const Line extends `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} ${string}`,
  Responses extends RouteConfig["responses"],
  Who extends Caller = never,
  Params extends Record<string, z.ZodType> = Record<never, never>,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(line: Line, definition: Definition<Line, Who, Params, Query, Body, Responses>): Route {
  const [verb = "", path = ""] = line.split(" ");
  const family = (Object.keys(families) as (keyof typeof families)[]).find((name) => path.includes(`{${name}}`));
  const addresses: readonly Address[] = family ? families[family] : [{ path: "", label: "", rename: (id) => id }];
  return (api) => {
    for (const address of addresses) {
      const method = verb.toLowerCase() as RouteConfig["method"];
      addRoute(api, method, path.replace(`{${family}}`, address.path), definition as unknown as AnyDefinition, address);
    }
  };
}

type AnyDefinition = Definition<string, Caller, Record<string, z.ZodType>, z.ZodObject, z.ZodType, RouteConfig["responses"]>;

function addRoute(
  api: OpenAPIHono,
  method: RouteConfig["method"],
  path: string,
  definition: AnyDefinition,
  address: Address,
): void {
  const { params, query, body, isBodyOptional, rawBody, maxBodyBytes, isBodyStreamed, responses, cacheControl, handle } =
    definition;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const request = {
    ...(names.length > 0 && { params: z.object(Object.fromEntries(names.map((name) => [name, params?.[name] ?? z.string()]))) }),
    ...(query && { query }),
  };
  const content = body && { "application/json": { schema: body } };
  const described = rawBody ?? (content && { ...(!isBodyOptional && { required: true }), content });
  const route: RouteConfig = {
    ...{ method, path, responses, ...operationOf(definition, address) },
    request: { ...request, ...(described && { body: described }) },
  };
  const takesToken = definition.actor === "token" || definition.actor === "user";
  const limit = maxBodyBytes !== undefined && {
    maxBytes: maxBodyBytes,
    takesTokenOf: definition.actor === "platform" ? ("platform" as const) : ("anybody" as const),
    ...(isBodyStreamed && { isStreamed: isBodyStreamed }),
  };
  const middleware = [...(limit ? [takesBody(limit)] : []), ...(takesToken && described ? [tokenFirst] : [])];
  const type = address.type ?? (path.startsWith("/api/spaces/") ? "space" : undefined);

  const respond = async (c: Context): Promise<Response> => {
    const valid = (part: "param" | "query" | "json") => c.req.valid(part as never) as Record<string, string> | undefined;
    const found = await findActor(c, definition.actor);
    const asked = { params: valid("param") ?? {}, query: valid("query"), body: valid("json") };
    if (body && isBodyOptional && Object.keys(asked.body ?? {}).length === 0)
      asked.body = body.parse({}) as Record<string, string>;
    const { owner, name } = asked.params;
    const input = { c, origin: requestOriginOf(c), ...asked, ...found, ...(type && { type, repo: { type, owner, name } }) };
    const answer = await handle(input as unknown as Parameters<typeof handle>[0]);
    if (answer instanceof Response) return answer;
    return c.json(answer as object, 200, cacheControl === undefined ? {} : { "Cache-Control": cacheControl });
  };

  if (rawBody) {
    api.openAPIRegistry.registerPath(route);
    api.openapi({ ...route, request, middleware, hide: true }, respond);
  } else api.openapi({ ...route, middleware }, respond);
}

async function findActor(c: Context, who: Caller | undefined): Promise<object> {
  if (!who) return {};
  if (who === "platform") return { platform: await requirePlatform(c) };
  const find = { anyone: async () => ({ actor: await actorOf(c) }), token: requireToken, user: requirePersonsToken }[who];
  const now = repeatableLookup(c, () => find(c));
  return { ...(await now()), actorNow: async () => (await now()).actor };
}

/** Refuses a request without a valid token before parsing the body (S138). The route still checks permissions. */
const tokenFirst: MiddlewareHandler = async (c, next) => {
  await requireHolder(c).catch(async (error: unknown) => {
    // A small body is read, because Node closes the connection if the body stays unread. A chunked body has no known length.
    const isChunked = c.req.header("Transfer-Encoding") !== undefined;
    if (!isChunked && Number(c.req.header("Content-Length") ?? 0) <= SMALL_BODY_BYTES) await c.req.arrayBuffer();
    else c.header("Connection", "close");
    throw error;
  });
  await next();
};

export const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { "application/json": { schema } },
});

export const failure = (description: string) => json(description, errorBodySchema);

export const events = (description: string) => ({ description, content: { "text/event-stream": { schema: z.string() } } });

export const storageFull = {
  507: failure(
    "`storage_full`: the owner's repositories have reached their storage limit. The message says how much is used and what to do.",
  ),
};

export function refuseInvalid(result: { success: true } | { success: false; error: z.core.$ZodError }): void {
  if (result.success) return;
  const [issue] = result.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw invalidRequest(`${field || "The body"}: ${issue?.message ?? "not understood"}.`, field);
}

declare module "hono" {
  interface ContextVariableMap {
    auditToken?: AuditToken;
  }
}

/** server.ts determines the IP address. An address that the sender claims is ignored. */
function requestOriginOf(c: Context): RequestOrigin {
  const token = c.get("auditToken");
  return {
    ip: c.req.header(CLIENT_ADDRESS_HEADER) ?? null,
    userAgent: c.req.header("User-Agent") ?? null,
    ...(token && { token }),
  };
}
