"use server";

import { redirect } from "next/navigation";
import { unlinkIdentity } from "#core/accounts/identity-providers/unlink-identity.ts";
import { setPassword } from "#core/accounts/users/set-password.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";

const PAGE = "/settings/linked-accounts";

export async function unlinkAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await unlinkIdentity(await requirePerson(PAGE), form.text("identity"), await requestOrigin());
      redirect(`${PAGE}?notice=unlinked`);
    },
    { page: PAGE },
  );
}

export async function setPasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setPassword(await requirePerson(PAGE), { newPassword: form.verbatim("newPassword") }, await requestOrigin());
      redirect(`${PAGE}?notice=password-set`);
    },
    { page: PAGE },
  );
}
