"use server";

import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { type Person, personActor } from "#core/access/actor.ts";
import { askForPasskeyToReauthenticate, askForPasskeyToSignIn } from "#core/accounts/second-step/ask-for-passkey.ts";
import { reauthenticateWithoutPassword } from "#core/accounts/second-step/reauthenticate-without-password.ts";
import { passkeyChallengeCookie } from "#core/accounts/second-step/second-step-cookie.ts";
import { reauthenticateWithPasskey, signInWithPasskey } from "#core/accounts/second-step/sign-in-with-passkey.ts";
import { reauthenticate } from "#core/accounts/sessions/reauthenticate.ts";
import { signIn } from "#core/accounts/users/sign-in.ts";
import { ServiceError } from "#core/errors.ts";
import type { FormState } from "../_components/form-state.ts";
import type { AskedPasskey } from "../_components/passkey-button.client.tsx";
import { enter, knownDeviceToken } from "../_server/enter.ts";
import { submitForm } from "../_server/form.ts";
import { nextPath, signInPath } from "../_server/next-path.ts";
import { askPasskey, passkeyAnswer } from "../_server/passkey-answer.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { currentSession } from "../_server/session.ts";
import { sessionToken } from "../_server/session-cookie.ts";

export async function signInAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const input = {
      login: form.text("login"),
      password: form.verbatim("password"),
      replaces: await sessionToken(),
      knownBy: await knownDeviceToken(),
    };
    return enter(await signIn(input, await requestOrigin()), nextPath(form.text("next")));
  });
}

/** The challenge is kept in a cookie too: an answer that was made in another browser signs nobody in here. */
export async function askForPasskeyToSignInAction(): Promise<AskedPasskey> {
  return askPasskey(async () => {
    const use = await askForPasskeyToSignIn(await requestOrigin());
    const { name, options } = passkeyChallengeCookie();
    (await cookies()).set(name, use.challenge, options);
    return { use };
  });
}

export async function signInWithPasskeyAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const jar = await cookies();
    const { name, options } = passkeyChallengeCookie();
    const input = { response: passkeyAnswer(form), challenge: jar.get(name)?.value, replaces: await sessionToken() };
    const outcome = await signInWithPasskey(input, await requestOrigin());
    jar.set(name, "", { ...options, maxAge: 0 });
    return enter(outcome, nextPath(form.text("next")));
  });
}

/** The password once more, before a sensitive change (S113). */
export async function reauthenticateAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const next = nextPath(form.text("next"));
    return enter(await reauthenticate(await requireSignedIn(next), form.verbatim("password"), await requestOrigin()), next);
  });
}

export async function reauthenticateWithoutPasswordAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const next = nextPath(form.text("next"));
    return enter(await reauthenticateWithoutPassword(await requireSignedIn(next), await requestOrigin()), next);
  });
}

export async function askForPasskeyToReauthenticateAction(): Promise<AskedPasskey> {
  return askPasskey(async () => {
    const session = await currentSession();
    if (!session) throw new ServiceError("unauthorized", "Your session has ended. Sign in again.");
    return { use: await askForPasskeyToReauthenticate(personActor(session), await requestOrigin()) };
  });
}

export async function reauthenticateWithPasskeyAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const next = nextPath(form.text("next"));
    const input = { response: passkeyAnswer(form), session: await sessionToken() };
    return enter(await reauthenticateWithPasskey(await requireSignedIn(next), input, await requestOrigin()), next);
  });
}

/** Who is signed in; nobody is sent to sign in, which is more than what was asked for. */
async function requireSignedIn(next: string): Promise<Person> {
  const session = await currentSession();
  return session ? personActor(session) : redirect(signInPath(next));
}
