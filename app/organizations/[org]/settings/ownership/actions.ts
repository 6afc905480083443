"use server";

import { redirect } from "next/navigation";
import { transferOrganization } from "#core/accounts/organizations/transfer-organization.ts";
import { ServiceError } from "#core/errors.ts";
import { deleteOrganization } from "#core/hub/owners/delete-organization.ts";
import type { FormState } from "../../../../_components/form-state.ts";
import { submitForm } from "../../../../_server/form.ts";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { requestOrigin } from "../../../../_server/request-origin.ts";

/** @param name of the organization, as each action here takes it; whether the person may is core's decision. */
export async function transferOrganizationAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { organization, person } = await requireOrganizationPage(name);
      const to = { username: form.text("username"), afterwards: form.text("afterwards") };
      await transferOrganization(person, organization.id, to, await requestOrigin());
      redirect(
        to.afterwards === "leave"
          ? "/organizations?notice=left"
          : `${organizationPath(organization.name, "members")}?notice=handed-over`,
      );
    },
    { page: organizationPath(name, "settings/ownership") },
  );
}

export async function deleteOrganizationAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { organization, person } = await requireOrganizationPage(name);
      if (form.text("confirmation") !== organization.name) {
        throw new ServiceError("invalid_request", `Type ${organization.name} to confirm.`, { field: "confirmation" });
      }
      await deleteOrganization(person, organization.id, await requestOrigin());
      redirect("/organizations?notice=deleted");
    },
    { page: organizationPath(name, "settings/ownership") },
  );
}
