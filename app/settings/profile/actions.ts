"use server";

import { revalidatePath } from "next/cache";
import { updateProfile } from "#core/accounts/users/update-profile.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";

export async function updateProfileAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson("/settings/profile");
    const avatar = (await form.file("avatar")) ?? (form.isTicked("removeAvatar") ? null : undefined);
    const changes = { fullName: form.text("fullName"), website: form.text("website"), avatar };
    await updateProfile(person, person.userId, changes, await requestOrigin());
    // The header shows name and picture too.
    revalidatePath("/", "layout");
    return { message: "Your profile is saved.", values: { fullName: changes.fullName, website: changes.website } };
  });
}
