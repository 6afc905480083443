import { headers } from "next/headers";
import { cache } from "react";
import { isServiceError } from "#core/errors.ts";
import { finishLogin, type LoginStep } from "#core/oauth/authorization/finish-login.ts";
import { findAnsweredUrl, type InteractionCookies, readInteraction } from "#core/oauth/authorization/interaction.ts";
import { type ConsentRequest, readConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { currentSession, type SiteSession } from "../../_server/session.ts";

type ConsentPage =
  | { step: "ask"; request: ConsentRequest; session: SiteSession }
  /** There is no question, or another step comes first. */
  | { step: "go"; url: string }
  | { step: "gone" };

/** This function runs once for each request, because the engine may be notified of a sign-in only once. */
export const readConsentPage = cache(async (uid: string): Promise<ConsentPage> => {
  const at = await interactionCookies(uid);
  try {
    const session = await currentSession();
    const interaction = await readInteraction(at);
    const login = await finishLogin(at, interaction, session);
    if (login.step === "none" && session) {
      return { step: "ask", request: await readConsentRequest(interaction.params, session), session };
    }
    return { step: "go", url: nextUrl(uid, login) };
  } catch (error) {
    if (!isServiceError(error) || error.code !== "gone") throw error;
    const url = await findAnsweredUrl(at);
    return url ? { step: "go", url } : { step: "gone" };
  }
});

/** The browser sends the engine's signed cookie only to the path of the page. */
export async function interactionCookies(uid: string): Promise<InteractionCookies> {
  return { uid, cookie: (await headers()).get("cookie") ?? "" };
}

export function interactionPath(uid: string): string {
  return `/interaction/${encodeURIComponent(uid)}`;
}

function nextUrl(uid: string, login: LoginStep): string {
  if (login.step === "restart" || login.step === "continue") return login.url;
  const query = new URLSearchParams({ next: interactionPath(uid) });
  if (login.step === "sign-in") {
    if (login.isOtherAccount) query.set("switch", "1");
    else if (login.isRepeat) query.set("reauthenticate", "1");
    if (login.loginHint) query.set("login_hint", login.loginHint);
  }
  return `/login?${query}`;
}
