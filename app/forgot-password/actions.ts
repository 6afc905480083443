"use server";

import { redirect } from "next/navigation";
import { forgotPassword } from "#core/accounts/users/forgot-password.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { requestOrigin } from "../_server/request-origin.ts";

export async function forgotPasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const email = form.text("email");
    await forgotPassword({ email }, await requestOrigin());
    redirect(`/forgot-password/sent?${new URLSearchParams({ email })}`);
  });
}
