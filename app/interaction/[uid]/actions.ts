"use server";

import { redirect } from "next/navigation";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { denyConsent } from "#core/oauth/consents/deny-consent.ts";
import { grantConsent } from "#core/oauth/consents/grant-consent.ts";
import { findAnsweredUrl } from "#core/oauth/interaction.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { signInPath } from "../../_server/next-path.ts";
import { setPageStatus } from "../../_server/page-status.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { currentSession } from "../../_server/session.ts";
import type { SubmittedForm } from "../../_server/submitted-form.ts";
import { interactionCookies, interactionPath } from "./read-consent-page.ts";

/** Authorize or Cancel. Everything in the form is checked against the question by core (S25, S31, S33). */
export async function decide(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const uid = form.text("uid");
    try {
      redirect(await answer(uid, form));
    } catch (error) {
      if (isServiceError(error) && error.code === "gone") await refuseReplay(uid);
      throw error;
    }
  });
}

async function answer(uid: string, form: SubmittedForm): Promise<string> {
  const at = await interactionCookies(uid);
  const [session, from] = await Promise.all([currentSession(), requestOrigin()]);
  const decision = form.text("decision");
  if (decision === "deny") return denyConsent(at, session, from);
  if (decision !== "allow") throw new ServiceError("invalid_request", "Press Authorize or Cancel.");
  if (!session) return signInPath(interactionPath(uid));
  const ticked = {
    scopes: form.all("scope"),
    orgIds: form.all("organization"),
    isAllOrgs: form.isTicked("all_organizations"),
    accountId: form.text("account"),
    fingerprint: form.text("app"),
  };
  return grantConsent(at, session, ticked, from);
}

/** The second press of a double click goes on where the first was going; a replay of what is over is a bad request (S25). */
async function refuseReplay(uid: string): Promise<void> {
  const url = await findAnsweredUrl(await interactionCookies(uid));
  if (url) redirect(url);
  setPageStatus(400);
}
