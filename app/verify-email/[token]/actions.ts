"use server";

import { redirect } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { verifyEmail } from "#core/accounts/users/verify-email.ts";
import type { FormState } from "../../_components/form-state.ts";
import { enter } from "../../_server/enter.ts";
import { submitForm } from "../../_server/form.ts";
import { nextPath } from "../../_server/next-path.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { currentSession } from "../../_server/session.ts";
import { sessionToken } from "../../_server/session-cookie.ts";

export async function verifyEmailAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const session = await currentSession();
    const input = {
      password: form.verbatim("password"),
      username: form.has("username") ? form.text("username") : undefined,
      replaces: await sessionToken(),
      actor: session && personActor(session),
    };
    const verified = await verifyEmail(form.text("token"), await requestOrigin(), input);
    if (verified.purpose === "change-email") redirect("/settings/account?notice=email-changed");
    return enter(verified.outcome, nextPath(verified.returnTo));
  });
}
