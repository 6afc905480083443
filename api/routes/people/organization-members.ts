import { createRoute, z } from "@hono/zod-openapi";
import { organizationRoles } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { listMembers } from "#core/accounts/organizations/members/list-members.ts";
import { env } from "#core/env.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { findPublicOwner } from "./find-public-owner.ts";

const PAGE_SIZE = 100;

const schema = z.object({
  _id: z.string(),
  type: z.literal("user"),
  user: z.string().openapi({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  isPro: z.boolean(),
  role: z.enum(organizationRoles),
});

const query = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_SIZE).default(PAGE_SIZE),
  p: z.coerce
    .number()
    .int()
    .min(1)
    .default(1)
    .openapi({ description: "The page, from 1; the header `Link` names the next one." }),
});

const route = createRoute({
  method: "get",
  path: "/api/organizations/{name}/members",
  summary: "The members of an organization, for its members",
  security: withToken,
  request: { params: z.object({ name: z.string() }), query },
  responses: {
    200: { description: "In the order in which they joined", content: { "application/json": { schema: z.array(schema) } } },
  },
});

export const organizationMembersRoute = openApiRoutes().openapi(route, async (c) => {
  const actor = await actorOf(c);
  const { limit, p } = c.req.valid("query");
  const owner = await findPublicOwner(c.req.valid("param").name, "organization");
  const { items, page, pageSize, total } = await listMembers(actor, owner.id, { page: p, pageSize: limit });
  if (page * pageSize < total) {
    const next = new URL(c.req.url);
    next.searchParams.set("p", String(page + 1));
    c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
  }
  const members = items
    .filter(({ isDisabled }) => !isDisabled)
    .map(({ userId, username, fullName, role }) => {
      const avatar = avatarUrl(username);
      return { _id: userId, type: "user" as const, user: username, fullname: fullName, avatarUrl: avatar, isPro: false, role };
    });
  return c.json(members, 200, { "Cache-Control": "no-store" });
});
