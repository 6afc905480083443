import { activatePath } from "../activate/device-code.ts";

/** The address that a device shows (RFC 8628 §3.2), and the longer one behind a QR code: both lead to the page for the code. */
export function GET(request: Request): Response {
  const userCode = new URL(request.url).searchParams.get("user_code") ?? "";
  return new Response(null, { status: 307, headers: { Location: activatePath(userCode), "Cache-Control": "no-store" } });
}
