import { activatePath } from "../activate/device-code.ts";

/** The URL that a device shows (RFC 8628 §3.2). */
export function GET(request: Request): Response {
  const userCode = new URL(request.url).searchParams.get("user_code") ?? "";
  return new Response(null, { status: 307, headers: { Location: activatePath(userCode), "Cache-Control": "no-store" } });
}
