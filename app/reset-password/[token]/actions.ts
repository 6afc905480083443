"use server";

import { redirect } from "next/navigation";
import { resetPassword } from "#core/accounts/users/reset-password.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

export async function resetPasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await resetPassword(form.text("token"), { password: form.verbatim("password") }, await requestOrigin());
    redirect("/login?notice=password-changed");
  });
}
