"use server";

import { redirect } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { beginPasskeyRegistration } from "#core/accounts/second-step/begin-passkey-registration.ts";
import { confirmTotp } from "#core/accounts/second-step/confirm-totp.ts";
import { findSecondStep } from "#core/accounts/second-step/find-second-step.ts";
import { makeRecoveryCodes } from "#core/accounts/second-step/make-recovery-codes.ts";
import { registerPasskey } from "#core/accounts/second-step/register-passkey.ts";
import { removePasskey } from "#core/accounts/second-step/remove-passkey.ts";
import { removeTotp } from "#core/accounts/second-step/remove-totp.ts";
import { renamePasskey } from "#core/accounts/second-step/rename-passkey.ts";
import { startTotpEnrolment } from "#core/accounts/second-step/start-totp-enrolment.ts";
import { changePassword } from "#core/accounts/users/change-password.ts";
import type { FormState } from "../../_components/form-state.ts";
import type { AskedPasskey } from "../../_components/passkey-button.client.tsx";
import { submitForm } from "../../_server/form.ts";
import { askPasskey, passkeyAnswer } from "../../_server/passkey-answer.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";
import { AUTHENTICATOR_PAGE, SECURITY_PAGE as PAGE, RECOVERY_CODES_PAGE } from "./security-pages.ts";

export async function changePasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(PAGE);
    const input = { currentPassword: form.verbatim("currentPassword"), newPassword: form.verbatim("newPassword") };
    const { endedSessions } = await changePassword(person, input, await requestOrigin());
    const ended =
      endedSessions === 0 ? "" : ` ${endedSessions} other ${endedSessions === 1 ? "session was" : "sessions were"} ended.`;
    return { message: `Your password is changed.${ended}` };
  });
}

/** What a page offered as recent may have grown old meanwhile: then the person proves it again, rather than reads of it. */
export async function askToMakePasskeyAction(): Promise<AskedPasskey> {
  return askPasskey(async () => {
    const person = await requirePerson(PAGE);
    if (!isRecentlyAuthenticated(person)) redirect(`/login?${new URLSearchParams({ reauthenticate: "1", next: PAGE })}`);
    return { make: await beginPasskeyRegistration(person, await requestOrigin()) };
  });
}

export async function registerPasskeyAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const person = await requirePerson(PAGE);
      await registerPasskey(person, passkeyAnswer(form), await requestOrigin());
      return goOn(person.userId, "passkey-added");
    },
    { page: PAGE },
  );
}

export async function renamePasskeyAction(passkeyId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await renamePasskey(await requirePerson(PAGE), passkeyId, { name: form.text("name") }, await requestOrigin());
      redirect(`${PAGE}?notice=passkey-renamed`);
    },
    { page: PAGE },
  );
}

export async function removePasskeyAction(passkeyId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await removePasskey(await requirePerson(PAGE), passkeyId, form.all("closes"), await requestOrigin());
      redirect(`${PAGE}?notice=passkey-removed`);
    },
    { page: PAGE },
  );
}

export async function startAuthenticatorAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await startTotpEnrolment(await requirePerson(PAGE));
      redirect(AUTHENTICATOR_PAGE);
    },
    { page: PAGE },
  );
}

export async function confirmAuthenticatorAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const person = await requirePerson(AUTHENTICATOR_PAGE);
      await confirmTotp(person, { code: form.text("code") }, await requestOrigin());
      return goOn(person.userId, "authenticator-added");
    },
    { page: AUTHENTICATOR_PAGE },
  );
}

export async function removeAuthenticatorAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await removeTotp(await requirePerson(PAGE), form.all("closes"), await requestOrigin());
      redirect(`${PAGE}?notice=authenticator-removed`);
    },
    { page: PAGE },
  );
}

export async function makeRecoveryCodesAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      const codes = await makeRecoveryCodes(await requirePerson(RECOVERY_CODES_PAGE), await requestOrigin());
      return { secret: { label: "Recovery codes", value: codes.join("\n") } };
    },
    { page: RECOVERY_CODES_PAGE },
  );
}

/** Whoever sets up a first second step is led on to recovery codes: a lost telephone must not be a lost account. */
async function goOn(userId: string, notice: string): Promise<never> {
  const { recoveryCodesLeft } = await findSecondStep(userId);
  redirect(`${recoveryCodesLeft === 0 ? RECOVERY_CODES_PAGE : PAGE}?notice=${notice}`);
}
