import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type AuditExportFormat, auditExportFormats, mediaTypeOf } from "#core/accounts/audit-log/audit-export-formats.ts";
import { exportAuditLog } from "#core/accounts/audit-log/export-audit-log.ts";
import { streamOfText } from "#core/http/stream-of-text.ts";
import { requireToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { findPublicOwner } from "../people/find-public-owner.ts";

const event = z.object({
  _id: z.string(),
  createdAt: z.string(),
  type: z.string().openapi({ description: "`scope.action`, for example `oauth_app.create`." }),
  message: z.string(),
  data: z.unknown(),
  ip: z.string().nullable(),
  location: z.null().openapi({ description: "Always null: addresses are not looked up." }),
  userAgent: z.string().nullable(),
  author: z.object({
    type: z.enum(["user", "system"]),
    _id: z.string().optional(),
    user: z.string().nullish(),
    avatarUrl: z.string().nullish(),
    deleted: z.boolean().optional(),
  }),
  token: z
    .object({
      type: z.string(),
      id: z.string(),
      name: z.string().nullable(),
      role: z.string().nullable(),
      last4: z.string().nullable(),
      deleted: z.boolean().nullable(),
    })
    .nullable(),
  oauth: z.object({ clientId: z.string(), name: z.string().nullable() }).nullable(),
  subject: z
    .object({ _id: z.string(), user: z.string().nullable(), deleted: z.boolean() })
    .nullable()
    .openapi({ description: "Whom it was done to, where that is somebody else." }),
  organization: z.object({ _id: z.string(), name: z.string().nullable() }).nullable(),
});

const query = z.object({
  q: z.string().max(500).default("").openapi({
    description: "`author:`, `ip:`, `type:` (`type:oauth_app.*` for all of a kind), `since:`, `until:` and words.",
    example: "author:mara type:oauth_app.*",
  }),
  format: z.enum(auditExportFormats).optional().openapi({ description: "Default: as `Accept` says, else `json`." }),
});

const route = createRoute({
  method: "get",
  path: "/api/organizations/{name}/audit-log/export",
  summary: "The audit log of an organization as a file, for its administrators; at most 100,000 entries, the newest first",
  description: "Plans Team and Enterprise. Takes a personal access token of an administrator with the scope `manage-repos`.",
  security: withToken,
  request: { params: z.object({ name: z.string() }), query },
  responses: {
    200: {
      description: "The entries",
      content: {
        "application/json": { schema: z.array(event) },
        "application/jsonl": { schema: z.string() },
        "text/csv": { schema: z.string() },
      },
    },
  },
});

export const auditExportRoute = openApiRoutes().openapi(route, async (c) => {
  await requireToken(c);
  const { q, format = acceptedFormat(c) } = c.req.valid("query");
  const { id: orgId, handle } = await findPublicOwner(c.req.valid("param").name, "organization");
  const actorNow = askedAnew(c, async () => (await requireToken(c)).actor);
  const pieces = await exportAuditLog(actorNow, { kind: "organization", orgId }, { q, format }, requestOriginOf(c));
  return new Response(streamOfText(pieces), {
    headers: {
      "Content-Type": mediaTypeOf[format],
      "Content-Disposition": `attachment; filename="audit-log-${handle}.${format}"`,
      "Cache-Control": "no-store",
    },
  }) as never;
});

function acceptedFormat(c: Context): AuditExportFormat {
  const accept = c.req.header("Accept") ?? "";
  if (/\bapplication\/(jsonl|x-ndjson|json-lines|jsonlines)\b/i.test(accept)) return "jsonl";
  return /\btext\/csv\b/i.test(accept) ? "csv" : "json";
}
