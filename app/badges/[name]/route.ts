import { createHash } from "node:crypto";
import { parseBadgeName } from "#core/docs/badges/badge-html.ts";
import { drawBadge } from "#core/docs/badges/draw-badge.ts";
import { env } from "#core/env.ts";

const KEPT_SECONDS = 24 * 60 * 60;

/** Other sites show the badge, so it is public. */
export async function GET(request: Request, { params }: { params: Promise<{ name: string }> }): Promise<Response> {
  const asked = parseBadgeName((await params).name);
  if (!asked) return new Response("This badge does not exist.\n", { status: 404 });
  const { svg } = drawBadge(env().BRAND_NAME, asked.size, asked.theme);
  const etag = `"${createHash("sha256").update(svg).digest("base64url").slice(0, 22)}"`;
  const headers = {
    "content-type": "image/svg+xml; charset=utf-8",
    "cache-control": `public, max-age=${KEPT_SECONDS}`,
    "cross-origin-resource-policy": "cross-origin",
    etag,
  };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  return new Response(svg, { headers });
}
