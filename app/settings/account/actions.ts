"use server";

import { redirect } from "next/navigation";
import { endSiteSession } from "#core/accounts/sessions/end-site-session.ts";
import { signOutElsewhere } from "#core/accounts/sessions/sign-out.ts";
import { changeEmail } from "#core/accounts/users/change-email.ts";
import { ServiceError } from "#core/errors.ts";
import { deleteAccount } from "#core/hub/owners/delete-account.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson, requireSession } from "../../_server/session.ts";
import { clearSessionCookie } from "../../_server/session-cookie.ts";

const PAGE = "/settings/account";

export async function changeEmailAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { email } = await changeEmail(await requirePerson(PAGE), { email: form.text("email") }, await requestOrigin());
      return { message: `We have written to ${email}. The address changes when you open the link in that mail.`, values: {} };
    },
    { page: PAGE },
  );
}

export async function endSessionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { userId } = await requirePerson(PAGE);
    await endSiteSession(userId, form.text("sessionId"), await requestOrigin());
    redirect(`${PAGE}?notice=session-ended#sessions`);
  });
}

export async function endOtherSessionsAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const { userId, sessionId } = await requirePerson(PAGE);
    await signOutElsewhere(userId, sessionId, await requestOrigin());
    redirect(`${PAGE}?notice=sessions-ended#sessions`);
  });
}

export async function deleteAccountAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const { user } = await requireSession(PAGE);
      const person = await requirePerson(PAGE);
      if (form.text("confirmation") !== user.username) {
        throw new ServiceError("invalid_request", `Type ${user.username} to confirm.`, { field: "confirmation" });
      }
      await deleteAccount(person, user.id, await requestOrigin());
      await clearSessionCookie();
      redirect("/?notice=account-deleted");
    },
    { page: PAGE },
  );
}
