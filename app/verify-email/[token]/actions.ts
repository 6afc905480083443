"use server";

import { redirect } from "next/navigation";
import { verifyEmail } from "#core/accounts/users/verify-email.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { nextPath } from "../../_server/next-path.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { currentSession } from "../../_server/session.ts";

export async function verifyEmailAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const input = form.has("username") ? { username: form.text("username") } : {};
    const verified = await verifyEmail(form.text("token"), await requestOrigin(), input);
    if (verified.purpose === "change-email")
      redirect((await currentSession()) ? "/settings/account?notice=email-changed" : "/login");
    const query = new URLSearchParams({
      notice: "account-ready",
      login_hint: verified.username,
      next: nextPath(verified.returnTo),
    });
    redirect(`/login?${query}`);
  });
}
