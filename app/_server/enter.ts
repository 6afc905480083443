import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { knownDeviceCookie, rememberDevice } from "#core/accounts/known-device.ts";
import { secondStepCookie } from "#core/accounts/second-step/second-step-cookie.ts";
import type { SignInOutcome } from "#core/accounts/sessions/complete-sign-in.ts";
import { setSessionCookie } from "./session-cookie.ts";

/**
 * Goes on after a step of signing in, or of proving it again: to `next` with the session's cookie, or to the second step with a
 * cookie of its own. For server actions and route handlers, which may set cookies.
 * @param next from `nextPath`
 */
export async function enter(outcome: SignInOutcome, next: string): Promise<never> {
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

/** The token of a sign-in between its steps, as the browser came with it; only core can tell whether it is worth anything. */
export async function secondStepToken(): Promise<string | undefined> {
  return (await cookies()).get(secondStepCookie().name)?.value;
}

/** Who has signed in with this browser before. It says nothing of who is in now, and outlives signing out. */
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
