import { createRoute, z } from "@hono/zod-openapi";
import {
  LEAKED_MAX_CHARACTERS,
  LEAKED_MAX_CREDENTIALS,
  revokeLeakedCredentials,
} from "#core/oauth/leaks/revoke-leaked-credentials.ts";
import { revokeTokenAtOrganization } from "#core/oauth/leaks/revoke-token-at-organization.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { findPublicOwner } from "../people/find-public-owner.ts";

const credential = z.string().min(1).max(LEAKED_MAX_CHARACTERS);

const leaked = createRoute({
  method: "post",
  path: "/api/credentials/revoke",
  summary: "Ends tokens that were found where they should not be; their owners are told",
  description:
    "Takes access, refresh, personal and CI tokens. The answer is always the same, whatever they were. At most 60 requests in ten minutes.",
  request: {
    body: {
      required: true,
      content: {
        "application/json": { schema: z.object({ credentials: z.array(credential).min(1).max(LEAKED_MAX_CREDENTIALS) }) },
      },
    },
  },
  responses: { 202: { description: "Taken" } },
});

const params = z.object({ name: z.string() });

const ofOrganization = createRoute({
  method: "post",
  path: "/api/organizations/{name}/settings/tokens/revoke",
  summary: "Cuts a member's token off from an organization, for its administrators",
  security: withToken,
  request: { params, body: { required: true, content: { "application/json": { schema: z.object({ token: credential }) } } } },
  responses: { 200: { description: "Done" } },
});

const ofOrganizationById = createRoute({
  method: "post",
  path: "/api/organizations/{name}/settings/tokens/{tokenId}/revoke",
  summary: "The same by the id that the audit log has for the token",
  security: withToken,
  request: { params: params.extend({ tokenId: z.string().max(100) }) },
  responses: { 200: { description: "Done" } },
});

export const revokeRoutes = openApiRoutes()
  .openapi(leaked, async (c) => {
    await revokeLeakedCredentials(c.req.valid("json").credentials, requestOriginOf(c));
    return c.body(null, 202, { "Cache-Control": "no-store" });
  })
  .openapi(ofOrganization, async (c) => {
    const { actor } = await requireToken(c);
    const { id } = await findPublicOwner(c.req.valid("param").name, "organization");
    await revokeTokenAtOrganization(actor, id, { token: c.req.valid("json").token }, requestOriginOf(c));
    return c.body(null, 200, { "Cache-Control": "no-store" });
  })
  .openapi(ofOrganizationById, async (c) => {
    const { actor } = await requireToken(c);
    const { name, tokenId } = c.req.valid("param");
    const { id } = await findPublicOwner(name, "organization");
    await revokeTokenAtOrganization(actor, id, { tokenId }, requestOriginOf(c));
    return c.body(null, 200, { "Cache-Control": "no-store" });
  });
