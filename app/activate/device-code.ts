import { cookies } from "next/headers";
import { env } from "#core/env.ts";
import { DEVICE_CODE_SECONDS } from "#core/oauth/lifetimes.ts";

export const CONFIRM_PATH = "/activate/confirm";
export const PERMISSIONS_PATH = "/activate/permissions";

/** As much of a code as anybody types; core says what a code is. */
const TYPED_MAX_CHARACTERS = 64;

/** The page for entering a code, filled in with this one. */
export function activatePath(userCode: string): string {
  const typed = userCode.slice(0, TYPED_MAX_CHARACTERS);
  return typed ? `/activate?${new URLSearchParams({ user_code: typed })}` : "/activate";
}

/** The code that this browser has entered. */
export type EnteredCode = {
  userCode: string;
  /** The person has said that it is the code on their device. */
  isConfirmed: boolean;
};

const CONFIRMED = ".confirmed";

/**
 * From one page to the next the code travels in a cookie: it is then in no address, so neither in the history nor on the screen
 * of somebody looking on, and no link can lead past the page where it is entered (RFC 8628 §5.4). Strict: nor past it from
 * another site. What a form answers is the code that its page showed; this one only says which page to draw.
 */
export async function enterCode({ userCode, isConfirmed }: EnteredCode): Promise<void> {
  const { name, options } = deviceCodeCookie();
  const value = userCode.slice(0, TYPED_MAX_CHARACTERS) + (isConfirmed ? CONFIRMED : "");
  (await cookies()).set(name, value, { ...options, maxAge: DEVICE_CODE_SECONDS });
}

export async function enteredCode(): Promise<EnteredCode | undefined> {
  const value = (await cookies()).get(deviceCodeCookie().name)?.value;
  if (!value) return undefined;
  const isConfirmed = value.endsWith(CONFIRMED);
  return { userCode: isConfirmed ? value.slice(0, -CONFIRMED.length) : value, isConfirmed };
}

export async function forgetCode(): Promise<void> {
  const { name, options } = deviceCodeCookie();
  (await cookies()).set(name, "", { ...options, maxAge: 0 });
}

/** Named as the session's cookie is (core/accounts/sessions/site-session-cookie.ts). */
function deviceCodeCookie() {
  const { protocol, port } = new URL(env().ORIGIN);
  const secure = protocol === "https:";
  return {
    name: `${secure ? "__Host-" : ""}device-code${port ? `-${port}` : ""}`,
    options: { httpOnly: true, secure, sameSite: "strict", path: "/" } as const,
  };
}
