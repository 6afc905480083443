import { redirect, unstable_rethrow } from "next/navigation";
import type { NextRequest } from "next/server";
import { personActor } from "#core/access/actor.ts";
import { startProviderSignIn } from "#core/accounts/identity-providers/start-provider-sign-in.ts";
import { isServiceError, type ServiceError } from "#core/errors.ts";
import { nextPath, signInPath } from "../../../_server/next-path.ts";
import {
  type ProviderSignInProblem,
  problemPath,
  providerSignInPath,
  providerSignInSecret,
  setProviderSignInSecret,
} from "../../../_server/provider-sign-in.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";
import { currentSession } from "../../../_server/session.ts";

/** Any site may link here: the provider's response is valid only in this browser, and the user confirms a linked identity. */
export async function GET(request: NextRequest, { params }: { params: Promise<{ slug: string }> }): Promise<Response> {
  const { slug } = await params;
  const query = request.nextUrl.searchParams;
  const next = nextPath(query.get("next"));
  const given = query.get("intent");
  const intent = given === "link" || given === "reauthenticate" ? given : "sign-in";
  const session = await currentSession();
  const back = providerSignInPath(slug, intent === "sign-in" ? { next } : { next, intent });
  try {
    const { url, browser } = await startProviderSignIn(
      { slug, intent, next, browser: await providerSignInSecret() },
      session && personActor(session),
      await requestOrigin(),
    );
    await setProviderSignInSecret(browser);
    redirect(url);
  } catch (error) {
    unstable_rethrow(error);
    if (!isServiceError(error)) throw error;
    if (error.code === "unauthorized") redirect(signInPath(back));
    if (error.code === "reauthentication_required") redirect(signInPath(back, { isReauthentication: true }));
    redirect(problemPath(problemOf(error), { slug, next, isSignIn: !session || intent === "sign-in" }));
  }
}

function problemOf({ code }: ServiceError): ProviderSignInProblem {
  if (code === "rate_limited") return "too-many";
  return code === "unavailable" ? "unreachable" : "unknown";
}
