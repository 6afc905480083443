import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import { siteSessionCookie } from "../sessions/site-session-cookie.ts";

/** The cookies of somebody who is not in yet: made as the session's is (S111), and gone within minutes. */
export type ShortLivedCookie = ReturnType<typeof siteSessionCookie>;

/** Carries the token of a sign-in between its steps. */
export function secondStepCookie(): ShortLivedCookie {
  return shortLived("second-step", oneTimeTokenSeconds["second-step"]);
}

/** Carries the challenge of a passkey that signs in by itself: only the browser that asked for it can answer it. */
export function passkeyChallengeCookie(): ShortLivedCookie {
  return shortLived("passkey", oneTimeTokenSeconds["passkey-challenge"]);
}

function shortLived(name: string, maxAge: number): ShortLivedCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
