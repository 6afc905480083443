import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { knownDeviceCookie, rememberDevice } from "#core/accounts/known-device.ts";
import { secondStepCookie } from "#core/accounts/second-step/pending-second-step.ts";
import type { SignInOutcome } from "#core/accounts/sessions/complete-sign-in.ts";
import { setSessionCookie } from "./session.ts";

/** Sets cookies, so only server actions and route handlers may call this function. @param next from `nextPath` */
export async function continueSignIn(outcome: SignInOutcome, next: string): Promise<never> {
  if (outcome.step === "second-step") {
    const { name, options } = secondStepCookie();
    (await cookies()).set(name, outcome.token, options);
    redirect(`/login/second-step?${new URLSearchParams({ next })}`);
  }
  await setSessionCookie(outcome.token);
  await setKnownDeviceCookie(outcome.userId);
  await clearSecondStepCookie();
  redirect(next);
}

/** Returns what the browser sent. Only core can tell whether the token is valid. */
export async function secondStepToken(): Promise<string | undefined> {
  return (await cookies()).get(secondStepCookie().name)?.value;
}

/** The token outlives a sign-out, and does not say who is signed in now. */
export async function knownDeviceToken(): Promise<string | undefined> {
  return (await cookies()).get(knownDeviceCookie().name)?.value;
}

async function setKnownDeviceCookie(userId: string): Promise<void> {
  const { name, options } = knownDeviceCookie();
  (await cookies()).set(name, await rememberDevice(userId, await knownDeviceToken()), options);
}

async function clearSecondStepCookie(): Promise<void> {
  const { name, options } = secondStepCookie();
  const jar = await cookies();
  if (jar.has(name)) jar.set(name, "", { ...options, maxAge: 0 });
}
