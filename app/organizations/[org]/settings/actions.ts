"use server";

import { revalidatePath } from "next/cache";
import { updateOrganization } from "#core/accounts/organizations/update-organization.ts";
import type { FormState } from "../../../_components/form-state.ts";
import { submitForm } from "../../../_server/form.ts";
import { requireOrganizationPage } from "../../../_server/organization-page.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";

export async function updateOrganizationAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    const logo = (await form.file("logo")) ?? (form.isTicked("removeLogo") ? null : undefined);
    const changes = { fullName: form.text("fullName"), website: form.text("website"), email: form.text("email") };
    await updateOrganization(person, organization.id, { ...changes, logo }, await requestOrigin());
    // The navigation shows the name too.
    revalidatePath("/organizations", "layout");
    return { message: "The profile is saved.", values: changes };
  });
}
