"use server";

import { redirect } from "next/navigation";
import type { AppDecision } from "#core/oauth/app-policy/app-policies.ts";
import { decideApp } from "#core/oauth/app-policy/decide-app.ts";
import { setAppPolicy } from "#core/oauth/app-policy/set-app-policy.ts";
import type { FormState } from "../../../../_components/form-state.ts";
import { submitForm } from "../../../../_server/form.ts";
import { nextPath } from "../../../../_server/next-path.ts";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { requestOrigin } from "../../../../_server/request-origin.ts";

/** @param name of the organization, as each action here takes it; whether the person may is core's decision. */
export async function setAppPolicyAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    await setAppPolicy(person, organization.id, form.text("policy"), await requestOrigin());
    redirect(`${organizationPath(organization.name, "settings/app-policy")}?notice=policy`);
  });
}

/** @param decision null takes back what was said. */
export async function decideAppAction(
  name: string,
  decision: AppDecision | null,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    const checked = decision === "approved" || decision === "blocked" ? decision : null;
    await decideApp(person, organization.id, { clientId: form.text("clientId"), decision: checked }, await requestOrigin());
    const list = new URL(listPath(organization.name, form.text("returnTo")), "https://self.invalid");
    list.searchParams.set("notice", checked ?? "reset");
    redirect(list.pathname + list.search);
  });
}

/** The list that the form came from; nothing else, whatever was sent. */
function listPath(name: string, sent: string): string {
  const own = organizationPath(name, "settings/app-policy");
  const path = nextPath(sent, own);
  return path === own || path.startsWith(`${own}?`) ? path : own;
}
