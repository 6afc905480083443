"use server";

import { redirect } from "next/navigation";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";

export async function createOrganizationAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson("/organizations/new");
    const input = { name: form.text("name"), fullName: form.text("fullName"), website: form.text("website") };
    const { name } = await createOrganization(person, input, await requestOrigin());
    redirect(`${organizationPath(name, "members")}?notice=created`);
  });
}
