import { z } from "@hono/zod-openapi";
import { auditEventSchema } from "@keyhook/sdk";
import type { Context } from "hono";
import {
  type AuditExportFormat,
  auditExportFormats,
  exportAuditLog,
  mediaTypeOf,
} from "#core/accounts/audit-log/export-audit-log.ts";
import { streamOfText } from "#core/http/stream-of-text.ts";
import {
  LEAKED_MAX_CHARACTERS,
  LEAKED_MAX_CREDENTIALS,
  revokeLeakedCredentials,
} from "#core/oauth/leaks/revoke-leaked-credentials.ts";
import { revokeTokenAtOrganization } from "#core/oauth/leaks/revoke-token-at-organization.ts";
import { defineRoute } from "../define-route.ts";
import { findPublicOwner } from "./people.ts";

const credential = z.string().min(1).max(LEAKED_MAX_CHARACTERS);
const noStore = { "Cache-Control": "no-store" };

export const auditRoutes = [
  defineRoute("GET /api/organizations/{name}/audit-log/export", {
    operationId: "exportAuditLog",
    action: "audit_log.read",
    actor: "token",
    summary: "Export the audit log of an organization (administrators only): at most 100,000 entries, newest first",
    description:
      "For organizations with the Team, Enterprise, Plus or Academia plan. Requires an administrator's personal access token with the scope `manage-repos`, or the token of the service's own command line. Tokens of other apps are refused.",
    query: z.object({
      q: z.string().max(500).default("").openapi({
        description: "`author:`, `ip:`, `type:` (`type:oauth_app.*` for all actions of a scope), `since:`, `until:` and words.",
        example: "author:mara type:oauth_app.*",
      }),
      format: z
        .enum(auditExportFormats)
        .optional()
        .openapi({ description: "Default: the format in `Accept`, otherwise `json`." }),
    }),
    responses: {
      200: {
        description: "The entries",
        content: {
          "application/json": { schema: z.array(auditEventSchema) },
          "application/jsonl": { schema: z.string() },
          "text/csv": { schema: z.string() },
        },
      },
    },
    async handle({ c, actorNow, params, query, origin }) {
      const { q, format = acceptedFormat(c) } = query;
      const { id: orgId, handle } = await findPublicOwner(params.name, "organization");
      const pieces = await exportAuditLog(actorNow, { kind: "organization", orgId }, { q, format }, origin);
      return new Response(streamOfText(pieces), {
        headers: {
          "Content-Type": mediaTypeOf[format],
          "Content-Disposition": `attachment; filename="audit-log-${handle}.${format}"`,
          ...noStore,
        },
      });
    },
  }),

  defineRoute("POST /api/credentials/revoke", {
    operationId: "revokeLeakedCredentials",
    summary: "Revoke leaked tokens, and notify their owners",
    description:
      "Revokes access, refresh, personal and CI tokens. A client secret stays valid; the app's managers get an e-mail. The response is the same for every string, known or unknown. At most 60 requests in ten minutes.",
    body: z.object({ credentials: z.array(credential).min(1).max(LEAKED_MAX_CREDENTIALS) }),
    responses: { 202: { description: "Accepted" } },
    async handle({ c, body, origin }) {
      await revokeLeakedCredentials(body.credentials, origin);
      return c.body(null, 202, noStore);
    },
  }),

  defineRoute("POST /api/organizations/{name}/settings/tokens/revoke", {
    operationId: "revokeOrganizationToken",
    action: "organization.revoke_token",
    actor: "token",
    summary: "Block a member's token from an organization (administrators only)",
    description: "A token that belongs to the organization alone, such as an exchanged one, is revoked.",
    body: z.object({ token: credential }),
    responses: { 200: { description: "The token can no longer access the organization" } },
    async handle({ c, actor, params, body, origin }) {
      const { id } = await findPublicOwner(params.name, "organization");
      await revokeTokenAtOrganization(actor, id, body, origin);
      return c.body(null, 200, noStore);
    },
  }),

  defineRoute("POST /api/organizations/{name}/settings/tokens/{tokenId}/revoke", {
    operationId: "revokeOrganizationTokenById",
    action: "organization.revoke_token",
    actor: "token",
    summary: "Block a member's token from an organization, by the token's ID in the audit log (administrators only)",
    params: { tokenId: z.string().max(100) },
    responses: { 200: { description: "The token can no longer access the organization" } },
    async handle({ c, actor, params: { name, tokenId }, origin }) {
      const { id } = await findPublicOwner(name, "organization");
      await revokeTokenAtOrganization(actor, id, { tokenId }, origin);
      return c.body(null, 200, noStore);
    },
  }),
];

function acceptedFormat(c: Context): AuditExportFormat {
  const accept = c.req.header("Accept") ?? "";
  if (/\bapplication\/(jsonl|x-ndjson|json-lines|jsonlines)\b/i.test(accept)) return "jsonl";
  return /\btext\/csv\b/i.test(accept) ? "csv" : "json";
}
