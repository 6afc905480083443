"use server";

import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { linkIdentity } from "#core/accounts/identity-providers/linked-identities.ts";
import { signUpWithIdentity } from "#core/accounts/identity-providers/pending-identity.ts";
import { acceptInvitation } from "#core/accounts/organizations/invitations.ts";
import { reauthenticate, reauthenticateWithoutPassword } from "#core/accounts/second-step/complete-reauthentication.ts";
import { finishSecondStep, type SecondStepProof } from "#core/accounts/second-step/finish-second-step.ts";
import { passkeyChallengeCookie } from "#core/accounts/second-step/pending-second-step.ts";
import {
  askForPasskeyAsSecondStep,
  askForPasskeyToReauthenticate,
  askForPasskeyToSignIn,
  reauthenticateWithPasskey,
  signInWithPasskey,
} from "#core/accounts/second-step/sign-in-with-passkey.ts";
import { redeemSetupLink } from "#core/accounts/setup-link.ts";
import { forgotPassword, resetPassword } from "#core/accounts/users/change-password.ts";
import { signIn } from "#core/accounts/users/sign-in.ts";
import { resendSignUpMail, signUp } from "#core/accounts/users/sign-up.ts";
import { verifyEmail } from "#core/accounts/users/verify-email.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import type { PasskeyOptions } from "../_components/passkey-button.client.tsx";
import { continueSignIn, knownDeviceToken, secondStepToken } from "./continue-sign-in.ts";
import { formAction, localPath, text, verbatim } from "./form-action.ts";
import { nextPath } from "./next-path.ts";
import { organizationPath } from "./organization-page.ts";
import { passkeyAnswer, passkeyOptions } from "./passkey-answer.ts";
import { clearPendingIdentity, pendingIdentityToken } from "./provider-sign-in.ts";
import { requestOrigin } from "./request-origin.ts";
import { anybody, personAt } from "./scopes.ts";
import { currentSession, sessionToken } from "./session.ts";
import type { SubmittedForm } from "./submitted-form.ts";

export const signInAction = formAction(
  anybody,
  { login: text, password: verbatim, next: localPath },
  async ({ input: { next, ...input }, from }) => {
    const by = { replaces: await sessionToken(), knownBy: await knownDeviceToken() };
    return continueSignIn(await signIn({ ...input, ...by }, from), next);
  },
);

/** The cookie ensures that only a response from the same browser signs a user in. */
export async function askForPasskeyToSignInAction(): Promise<PasskeyOptions> {
  return passkeyOptions(async () => {
    const use = await askForPasskeyToSignIn(await requestOrigin());
    const { name, options } = passkeyChallengeCookie();
    (await cookies()).set(name, use.challenge, options);
    return { use };
  });
}

export const signInWithPasskeyAction = formAction(
  anybody,
  { response: passkeyAnswer, next: localPath },
  async ({ input: { response, next }, from }) => {
    const jar = await cookies();
    const { name, options } = passkeyChallengeCookie();
    const input = { response, challenge: jar.get(name)?.value, replaces: await sessionToken() };
    const outcome = await signInWithPasskey(input, from);
    jar.set(name, "", { ...options, maxAge: 0 });
    return continueSignIn(outcome, next);
  },
);

const reauthScope = personAt((form) => nextPath(form.text("next")));

/** Signed-in users prove their identity before a sensitive change (S113). */
export const reauthenticateAction = formAction(reauthScope, { password: verbatim }, async ({ person, page, input, from }) =>
  continueSignIn(await reauthenticate(person, input.password, from), page),
);

export const reauthenticateWithoutPasswordAction = formAction(reauthScope, {}, async ({ person, page, from }) =>
  continueSignIn(await reauthenticateWithoutPassword(person, from), page),
);

export async function askForPasskeyToReauthenticateAction(): Promise<PasskeyOptions> {
  return passkeyOptions(async () => {
    const session = await currentSession();
    if (!session) throw new ServiceError("unauthorized", "Your session has ended. Sign in again.");
    return { use: await askForPasskeyToReauthenticate(personActor(session), await requestOrigin()) };
  });
}

export const reauthenticateWithPasskeyAction = formAction(
  reauthScope,
  { response: passkeyAnswer },
  async ({ person, page, input, from }) =>
    continueSignIn(await reauthenticateWithPasskey(person, { ...input, session: await sessionToken() }, from), page),
);

export const finishWithCodeAction = finishWith((form) => ({ kind: "code", code: form.text("code") }));

export const finishWithRecoveryCodeAction = finishWith((form) => ({ kind: "recovery-code", code: form.text("recoveryCode") }));

export const finishWithPasskeyAction = finishWith((form) => ({ kind: "passkey", response: passkeyAnswer(form) }));

export async function askForPasskeyAsSecondStepAction(): Promise<PasskeyOptions> {
  return passkeyOptions(async () => ({ use: await askForPasskeyAsSecondStep(await secondStepToken(), await requestOrigin()) }));
}

function finishWith(proof: (form: SubmittedForm) => SecondStepProof) {
  return formAction(anybody, { proof, next: localPath }, async ({ input: { proof, next }, from }) => {
    const input = { token: await secondStepToken(), proof, session: await sessionToken() };
    const outcome = await finishSecondStep(input, from).catch((error: unknown) => {
      if (isServiceError(error) && error.code === "gone") redirect(`/login?${new URLSearchParams({ notice: "ran-out", next })}`);
      throw error;
    });
    return continueSignIn(outcome, next);
  });
}

export const linkAction = formAction(personAt("/login/elsewhere"), {}, async ({ person, from }) => {
  const { next } = await linkIdentity(person, (await pendingIdentityToken()) ?? "", from);
  await clearPendingIdentity();
  redirect(nextPath(next));
});

export const signUpWithIdentityAction = formAction(
  anybody,
  { username: text, fullName: text },
  async ({ input: names, from }) => {
    const input = { ...names, replaces: await sessionToken() };
    const { outcome, next } = await signUpWithIdentity((await pendingIdentityToken()) ?? "", input, from);
    await clearPendingIdentity();
    return continueSignIn(outcome, nextPath(next));
  },
);

export const forgetAction = formAction(anybody, { next: localPath }, async ({ input }) => {
  await clearPendingIdentity();
  redirect(input.next);
});

export const signUpAction = formAction(
  anybody,
  {
    username: text,
    fullName: text,
    email: text,
    password: verbatim,
    next: localPath,
  },
  async ({ input: { next, ...input }, from }) => {
    const { email } = await signUp({ ...input, returnTo: next }, from);
    redirect(`/signup/sent?${new URLSearchParams({ email })}`);
  },
);

export const resendSignUpMailAction = formAction(anybody, { email: text }, async ({ input, from }) => {
  await resendSignUpMail(input, from);
  return { message: "If this sign-up is still open, we sent a new link. The earlier one no longer works." };
});

export const forgotPasswordAction = formAction(anybody, { email: text }, async ({ input, from }) => {
  await forgotPassword(input, from);
  redirect(`/forgot-password/sent?${new URLSearchParams(input)}`);
});

export const resetPasswordAction = formAction(
  anybody,
  { token: text, password: verbatim },
  async ({ input: { token, password }, from }) => {
    await resetPassword(token, { password }, from);
    redirect("/login?notice=password-changed");
  },
);

export const verifyEmailAction = formAction(
  anybody,
  {
    token: text,
    password: verbatim,
    username: (form) => (form.has("username") ? form.text("username") : undefined),
  },
  async ({ input: { token, ...input }, from }) => {
    const session = await currentSession();
    const by = { replaces: await sessionToken(), actor: session && personActor(session) };
    const verified = await verifyEmail(token, from, { ...input, ...by });
    if (verified.purpose === "change-email") redirect("/settings/account?notice=email-changed");
    return continueSignIn(verified.outcome, nextPath(verified.returnTo));
  },
);

export const redeemSetupLinkAction = formAction(
  anybody,
  { token: text, username: text, fullName: text, email: text, password: verbatim },
  async ({ input: { token, ...operator }, from }) =>
    continueSignIn({ step: "done", ...(await redeemSetupLink(token, operator, from)) }, "/admin"),
);

export const acceptInvitationAction = formAction(
  personAt((form) => `/invitations/${encodeURIComponent(form.text("token"))}`),
  { token: text },
  async ({ person, input, from }) => {
    const { name } = await acceptInvitation(person, input.token, from);
    redirect(organizationPath(name));
  },
);
