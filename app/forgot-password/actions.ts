"use server";

import { forgotPassword } from "#core/accounts/users/forgot-password.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { requestOrigin } from "../_server/request-origin.ts";

export async function forgotPasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await forgotPassword({ email: form.text("email") }, await requestOrigin());
    return { isDone: true };
  });
}
