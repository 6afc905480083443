"use server";

import { redirect } from "next/navigation";
import { askForApp } from "#core/oauth/app-policy/ask-for-app.ts";
import type { FormState } from "../../../_components/form-state.ts";
import { submitForm } from "../../../_server/form.ts";
import { organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";

export async function askForAppAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    const clientId = form.text("clientId");
    await askForApp(person, organization.id, clientId, await requestOrigin());
    redirect(`${organizationPath(organization.name, "ask-for-app")}?${new URLSearchParams({ client_id: clientId })}`);
  });
}
