"use server";

import { redirect } from "next/navigation";
import { endSiteSessionByToken } from "#core/accounts/sessions/end-site-session.ts";
import { clearSessionCookie, sessionToken } from "./session-cookie.ts";

/** Ends the session here and in the database, so that a copy of the cookie is worth nothing. */
export async function signOut(): Promise<void> {
  const token = await sessionToken();
  if (token) await endSiteSessionByToken(token);
  await clearSessionCookie();
  redirect("/");
}
