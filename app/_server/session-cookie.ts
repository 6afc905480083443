import { cookies } from "next/headers";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";

/** The opaque token that the browser came with; only core can tell whether it is worth anything. */
export async function sessionToken(): Promise<string | undefined> {
  return (await cookies()).get(siteSessionCookie().name)?.value;
}

/** Gives the browser a session. Always a new token, never the one it came with (session fixation, S34). */
export async function setSessionCookie(token: string): Promise<void> {
  const { name, options } = siteSessionCookie();
  (await cookies()).set(name, token, options);
}

export async function clearSessionCookie(): Promise<void> {
  const { name, options } = siteSessionCookie();
  (await cookies()).set(name, "", { ...options, maxAge: 0 });
}
