import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { nextAuthOptions } from "./next-auth-options.ts";

type Context = { params: Promise<{ nextauth: string[] }> };

/** The options depend on the settings of the running service, so each request creates them. */
async function handle(request: NextRequest, context: Context): Promise<Response> {
  // At this path, anybody could write errors into the service's log. The check is here, where Next has decoded the path.
  if ((await context.params).nextauth.includes("_log")) return new Response(null, { status: 404 });
  return NextAuth(request, context, nextAuthOptions()) as Promise<Response>;
}

export { handle as GET, handle as POST };
