"use server";

import { redirect } from "next/navigation";
import { linkIdentity } from "#core/accounts/identity-providers/link-identity.ts";
import { signUpWithIdentity } from "#core/accounts/identity-providers/sign-up-with-identity.ts";
import type { FormState } from "../../_components/form-state.ts";
import { clearPendingIdentity, pendingIdentityToken } from "../../_server/elsewhere.ts";
import { enter } from "../../_server/enter.ts";
import { submitForm } from "../../_server/form.ts";
import { nextPath } from "../../_server/next-path.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";
import { sessionToken } from "../../_server/session-cookie.ts";

const PAGE = "/login/elsewhere";

export async function linkAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      const { next } = await linkIdentity(await requirePerson(PAGE), (await pendingIdentityToken()) ?? "", await requestOrigin());
      await clearPendingIdentity();
      redirect(nextPath(next));
    },
    { page: PAGE },
  );
}

export async function signUpAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const input = { username: form.text("username"), fullName: form.text("fullName"), replaces: await sessionToken() };
    const { outcome, next } = await signUpWithIdentity((await pendingIdentityToken()) ?? "", input, await requestOrigin());
    await clearPendingIdentity();
    return enter(outcome, nextPath(next));
  });
}

export async function forgetAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await clearPendingIdentity();
    redirect(nextPath(form.text("next")));
  });
}
