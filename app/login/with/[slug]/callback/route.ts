import { redirect } from "next/navigation";
import type { NextRequest } from "next/server";
import { personActor } from "#core/access/actor.ts";
import { receiveCallback } from "#core/accounts/identity-providers/receive-callback.ts";
import { continueSignIn } from "../../../../_server/continue-sign-in.ts";
import { nextPath } from "../../../../_server/next-path.ts";
import { problemPath, providerSignInSecret, setPendingIdentity } from "../../../../_server/provider-sign-in.ts";
import { requestOrigin } from "../../../../_server/request-origin.ts";
import { currentSession, sessionToken } from "../../../../_server/session.ts";

/** This URL is registered as the redirect URI at a provider. */
export async function GET(request: NextRequest, { params }: { params: Promise<{ slug: string }> }): Promise<Response> {
  const { slug } = await params;
  const session = await currentSession();
  const received = await receiveCallback(
    {
      slug,
      parameters: new URLSearchParams(request.nextUrl.searchParams),
      browser: await providerSignInSecret(),
      actor: session && personActor(session),
      sessionToken: await sessionToken(),
    },
    await requestOrigin(),
  );
  switch (received.step) {
    case "enter":
      return continueSignIn(received.outcome, nextPath(received.next));
    case "proved":
      return redirect(nextPath(received.next));
    case "pending":
      await setPendingIdentity(received.token);
      return redirect("/login/elsewhere");
    case "failed":
      return redirect(problemPath(received.reason, { ...received, next: nextPath(received.next) }));
  }
}
