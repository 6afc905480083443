"use server";

import { redirect } from "next/navigation";
import { revokeConsent } from "#core/oauth/consents/revoke-consent.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requireSession } from "../../_server/session.ts";
import { connectedAppsPath } from "./connected-apps-path.ts";

export async function revokeAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const session = await requireSession(connectedAppsPath());
    await revokeConsent(session, form.text("consentId"), await requestOrigin());
    redirect(`/settings/connected-applications?${new URLSearchParams({ notice: "revoked", page: form.text("page") || "1" })}`);
  });
}
