"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { addIdentityProvider } from "#core/accounts/identity-providers/add-identity-provider.ts";
import { organizationSlug } from "#core/accounts/identity-providers/identity-provider.ts";
import { removeIdentityProvider } from "#core/accounts/identity-providers/remove-identity-provider.ts";
import { updateIdentityProvider } from "#core/accounts/identity-providers/update-identity-provider.ts";
import { updateOrganizationSecurity } from "#core/accounts/organizations/security/update-organization-security.ts";
import type { FormState } from "../../../../_components/form-state.ts";
import { submitForm } from "../../../../_server/form.ts";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { requestOrigin } from "../../../../_server/request-origin.ts";

const pageOf = (name: string) => organizationPath(name, "settings/security");

/** The rule that the pressed button is for. */
export async function changeRuleAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { organization, person } = await requireOrganizationPage(name);
      const isOn = form.text("to") === "on";
      const changes = form.text("rule") === "provider" ? { requiresProvider: isOn } : { requiresSecondStep: isOn };
      await updateOrganizationSecurity(person, organization.id, changes, await requestOrigin());
      redirect(`${pageOf(name)}?notice=${isOn ? "on" : "off"}`);
    },
    { page: pageOf(name) },
  );
}

export async function saveIssuerAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { organization, person } = await requireOrganizationPage(name);
      const input = {
        name: form.text("name"),
        clientId: form.text("clientId"),
        clientSecret: form.text("clientSecret"),
      };
      const from = await requestOrigin();
      if (form.has("issuer")) {
        const issuer = { ...input, kind: "oidc", orgId: organization.id, issuer: form.text("issuer") };
        await addIdentityProvider(person, issuer, from);
      } else {
        await updateIdentityProvider(person, organizationSlug(organization.id), input, from);
      }
      revalidatePath(pageOf(name));
      redirect(`${pageOf(name)}?notice=issuer-saved`);
    },
    { page: pageOf(name) },
  );
}

export async function removeIssuerAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      const { organization, person } = await requireOrganizationPage(name);
      await removeIdentityProvider(person, organizationSlug(organization.id), await requestOrigin());
      redirect(`${pageOf(name)}?notice=issuer-removed`);
    },
    { page: pageOf(name) },
  );
}
