import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { nextAuthOptions } from "../../../_server/next-auth-options.ts";

type Context = { params: Promise<{ nextauth: string[] }> };

/** The options follow the settings of the running service, so they are made for each request and not when the module loads. */
function handle(request: NextRequest, context: Context): Promise<Response> {
  return NextAuth(request, context, nextAuthOptions()) as Promise<Response>;
}

export { handle as GET, handle as POST };
