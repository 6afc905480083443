"use server";

import { redirect } from "next/navigation";
import { resendSignUpMail } from "#core/accounts/users/resend-sign-up-mail.ts";
import { signUp } from "#core/accounts/users/sign-up.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { nextPath } from "../_server/next-path.ts";
import { requestOrigin } from "../_server/request-origin.ts";

export async function signUpAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { email } = await signUp(
      {
        username: form.text("username"),
        fullName: form.text("fullName"),
        email: form.text("email"),
        password: form.verbatim("password"),
        returnTo: nextPath(form.text("next")),
      },
      await requestOrigin(),
    );
    redirect(`/signup/sent?${new URLSearchParams({ email })}`);
  });
}

export async function resendSignUpMailAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await resendSignUpMail({ email: form.text("email") }, await requestOrigin());
    return { message: "A new link is on its way. The earlier one no longer works." };
  });
}
