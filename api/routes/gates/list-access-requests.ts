import { createRoute, z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { env } from "#core/env.ts";
import { type AccessRequest, accessRequestStatuses } from "#core/hub/gates/access-request.ts";
import { listAccessRequests } from "#core/hub/gates/list-access-requests.ts";
import { requireToken } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { GATE_PATH, repoNameOf, repoParams } from "./gate-request.ts";

const PAGE_SIZE = 100;

const requestSchema = z.object({
  user: z.object({
    _id: z.string(),
    user: z.string(),
    fullname: z.string(),
    email: z.string().optional().openapi({ description: "Of whoever asked, and so agreed to share it." }),
    type: z.literal("user"),
    avatarUrl: z.string(),
  }),
  status: z.enum(accessRequestStatuses),
  fields: z.record(z.string(), z.string()),
  timestamp: z.string(),
});

const route = createRoute({
  method: "get",
  path: `${GATE_PATH}/{status}`,
  summary: "List who asked for access to a gated repository",
  security: withToken,
  request: {
    params: repoParams.extend({ status: z.enum(accessRequestStatuses) }),
    query: z.object({ p: z.coerce.number().int().min(0).max(100_000).default(0).openapi({ description: "The page, from 0." }) }),
  },
  responses: {
    200: {
      description: "A page of them, the longest waiting first; the header `Link` says where the next is",
      content: { "application/json": { schema: z.array(requestSchema) } },
    },
  },
});

export const listAccessRequestsRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor } = await requireToken(c);
  const { status, ...params } = c.req.valid("param");
  const { p } = c.req.valid("query");
  const wanted = repoNameOf(params);
  const { items, total } = await listAccessRequests(actor, wanted, { status, page: p + 1, pageSize: PAGE_SIZE });
  c.header("X-Total-Count", String(total));
  if ((p + 1) * PAGE_SIZE < total) {
    const next = new URL(c.req.url);
    next.searchParams.set("p", String(p + 1));
    c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
  }
  return c.json(items.map(requestJson), 200);
});

function requestJson({ user, status, message, askedAt }: AccessRequest): z.infer<typeof requestSchema> {
  return {
    user: {
      _id: user.id,
      user: user.username,
      fullname: user.fullName || user.username,
      ...(user.email !== null && { email: user.email }),
      type: "user",
      avatarUrl: avatarUrl(user.username),
    },
    status,
    fields: message === null ? {} : { message },
    timestamp: askedAt.toISOString(),
  };
}
