"use server";

import { redirect } from "next/navigation";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { findAnsweredUrl } from "#core/oauth/authorization/interaction.ts";
import { denyConsent, grantConsent } from "#core/oauth/consents/grant-consent.ts";
import { tickedConsent } from "../../_server/consent-form.ts";
import { formAction, type Input, text } from "../../_server/form-action.ts";
import { signInPath } from "../../_server/next-path.ts";
import { setPageStatus } from "../../_server/page-status.ts";
import { anybody } from "../../_server/scopes.ts";
import { currentSession } from "../../_server/session.ts";
import { interactionCookies, interactionPath } from "./read-consent-page.ts";

const fields = { uid: text, decision: text, ticked: tickedConsent };

/** core compares everything in the form with the request (S25, S31, S33). */
export const decide = formAction(anybody, fields, async ({ input, from }) => {
  try {
    redirect(await decideConsent(input, from));
  } catch (error) {
    if (isServiceError(error) && error.code === "gone") await refuseReplay(input.uid);
    throw error;
  }
});

async function decideConsent({ uid, decision, ticked }: Input<typeof fields>, from: RequestOrigin): Promise<string> {
  const at = await interactionCookies(uid);
  const session = await currentSession();
  if (decision === "deny") return denyConsent(at, session, from);
  if (decision !== "allow") throw new ServiceError("invalid_request", "Press “Authorize” or “Cancel”.");
  if (!session) return signInPath(interactionPath(uid));
  return grantConsent(at, session, ticked, from);
}

/** The second press of a double click redirects like the first. A later replay gets a 400 (S25). */
async function refuseReplay(uid: string): Promise<void> {
  const url = await findAnsweredUrl(await interactionCookies(uid));
  if (url) redirect(url);
  setPageStatus(400);
}
