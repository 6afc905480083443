"use server";

import { redirect } from "next/navigation";
import { signOut as endSession } from "#core/accounts/sessions/end-site-session.ts";
import { clearPendingIdentity } from "./provider-sign-in.ts";
import { requestOrigin } from "./request-origin.ts";
import { clearSessionCookie, sessionToken } from "./session.ts";

/** Ends the session in the database too, so that a copy of the cookie is useless. */
export async function signOut(): Promise<void> {
  const token = await sessionToken();
  if (token) await endSession(token, await requestOrigin());
  await clearSessionCookie();
  // The next user of this browser must not be asked to link this user's account at a provider.
  await clearPendingIdentity();
  redirect("/");
}
