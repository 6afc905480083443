"use server";

import { redirect } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { findSecondStep } from "#core/accounts/second-step/find-second-step.ts";
import { removePasskey, removeTotp, renamePasskey } from "#core/accounts/second-step/manage-second-step.ts";
import { makeRecoveryCodes } from "#core/accounts/second-step/recovery-codes.ts";
import { beginPasskeyRegistration, registerPasskey } from "#core/accounts/second-step/register-passkey.ts";
import { confirmTotp, startTotpEnrolment } from "#core/accounts/second-step/totp-enrolment.ts";
import { changePassword } from "#core/accounts/users/change-password.ts";
import type { PasskeyOptions } from "../../_components/passkey-button.client.tsx";
import { formAction, text, texts, verbatim } from "../../_server/form-action.ts";
import { signInPath } from "../../_server/next-path.ts";
import { passkeyAnswer, passkeyOptions } from "../../_server/passkey-answer.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { personAt } from "../../_server/scopes.ts";
import { requirePerson } from "../../_server/session.ts";
import { AUTHENTICATOR_PAGE, SECURITY_PAGE as PAGE, RECOVERY_CODES_PAGE } from "./security-notices.ts";

const scope = personAt(PAGE);

export const changePasswordAction = formAction(
  scope,
  { currentPassword: verbatim, newPassword: verbatim },
  async ({ person, input, from }) => {
    const { endedSessions: count } = await changePassword(person, input, from);
    const ended = count === 0 ? "" : ` ${count} other ${count === 1 ? "session was" : "sessions were"} ended.`;
    return { message: `Password changed.${ended}` };
  },
);

/** The authentication was recent when the page was rendered, but may be too old now. */
export async function askForNewPasskeyAction(): Promise<PasskeyOptions> {
  return passkeyOptions(async () => {
    const person = await requirePerson(PAGE);
    if (!isRecentlyAuthenticated(person)) redirect(signInPath(PAGE, { isReauthentication: true }));
    return { make: await beginPasskeyRegistration(person, await requestOrigin()) };
  });
}

export const registerPasskeyAction = formAction(scope, { answer: passkeyAnswer }, async ({ person, input, from }) => {
  await registerPasskey(person, input.answer, from);
  return redirectAfterSetup(person.userId, "passkey-added");
});

export const renamePasskeyAction = formAction(scope, { name: text }, async ({ person, input, from }, passkeyId: string) => {
  await renamePasskey(person, passkeyId, input, from);
  redirect(`${PAGE}?notice=passkey-renamed`);
});

export const removePasskeyAction = formAction(scope, { closes: texts }, async ({ person, input, from }, passkeyId: string) => {
  await removePasskey(person, passkeyId, input.closes, from);
  redirect(`${PAGE}?notice=passkey-removed`);
});

export const startAuthenticatorAction = formAction(scope, {}, async ({ person }) => {
  await startTotpEnrolment(person);
  redirect(AUTHENTICATOR_PAGE);
});

export const confirmAuthenticatorAction = formAction(
  personAt(AUTHENTICATOR_PAGE),
  { code: text },
  async ({ person, input, from }) => {
    await confirmTotp(person, input, from);
    return redirectAfterSetup(person.userId, "authenticator-added");
  },
);

export const removeAuthenticatorAction = formAction(scope, { closes: texts }, async ({ person, input, from }) => {
  await removeTotp(person, input.closes, from);
  redirect(`${PAGE}?notice=authenticator-removed`);
});

export const createRecoveryCodesAction = formAction(personAt(RECOVERY_CODES_PAGE), {}, async ({ person, from }) => {
  const codes = await makeRecoveryCodes(person, from);
  return { secret: { label: "Recovery codes", value: codes.join("\n") } };
});

/** A user without recovery codes continues to the page that creates them. A lost phone must not mean a lost account. */
async function redirectAfterSetup(userId: string, notice: string): Promise<never> {
  const { recoveryCodesLeft } = await findSecondStep(userId);
  redirect(`${recoveryCodesLeft === 0 ? RECOVERY_CODES_PAGE : PAGE}?notice=${notice}`);
}
