"use server";

import { redirect } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { reauthenticate } from "#core/accounts/sessions/reauthenticate.ts";
import { signIn } from "#core/accounts/users/sign-in.ts";
import type { FormState } from "../_components/form-state.ts";
import { enter } from "../_server/enter.ts";
import { submitForm } from "../_server/form.ts";
import { nextPath, signInPath } from "../_server/next-path.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { currentSession } from "../_server/session.ts";
import { sessionToken } from "../_server/session-cookie.ts";

export async function signInAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const input = { login: form.text("login"), password: form.verbatim("password"), replaces: await sessionToken() };
    return enter(await signIn(input, await requestOrigin()), nextPath(form.text("next")));
  });
}

/** The password once more, before a sensitive change (S113). */
export async function reauthenticateAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const next = nextPath(form.text("next"));
    const session = await currentSession();
    if (!session) redirect(signInPath(next));
    return enter(await reauthenticate(personActor(session), form.verbatim("password"), await requestOrigin()), next);
  });
}
