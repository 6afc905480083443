import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import { siteSessionCookie } from "../sessions/site-session-cookie.ts";

/** Cookies of users who are not signed in yet: set up like the session's (S111), but valid only for minutes. */
export type ShortLivedCookie = ReturnType<typeof siteSessionCookie>;

/** Contains the token of a pending second step. */
export function secondStepCookie(): ShortLivedCookie {
  return shortLived("second-step", oneTimeTokenSeconds["second-step"]);
}

/** Contains the challenge for signing in with a passkey alone: only the browser that requested it can answer it. */
export function passkeyChallengeCookie(): ShortLivedCookie {
  return shortLived("passkey", oneTimeTokenSeconds["passkey-challenge"]);
}

function shortLived(name: string, maxAge: number): ShortLivedCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
