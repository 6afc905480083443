import { cookies } from "next/headers";
import { env } from "#core/env.ts";
import { DEVICE_CODE_SECONDS } from "#core/oauth/lifetimes.ts";

export const CONFIRM_PATH = "/activate/confirm";
export const PERMISSIONS_PATH = "/activate/permissions";

/** Longer than any code. core decides which codes are valid. */
const TYPED_MAX_CHARACTERS = 64;

export function activatePath(userCode: string): string {
  const typed = userCode.slice(0, TYPED_MAX_CHARACTERS);
  return typed ? `/activate?${new URLSearchParams({ user_code: typed })}` : "/activate";
}

type EnteredCode = {
  userCode: string;
  isConfirmed: boolean;
};

const CONFIRMED = ".confirmed";

/** A `SameSite=Strict` cookie, so that no link can skip the page where the code is entered (RFC 8628 §5.4). */
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

/** The name follows the rules for the session's cookie. */
function deviceCodeCookie() {
  const { protocol, port } = new URL(env().ORIGIN);
  const secure = protocol === "https:";
  return {
    name: `${secure ? "__Host-" : ""}device-code${port ? `-${port}` : ""}`,
    options: { httpOnly: true, secure, sameSite: "strict", path: "/" } as const,
  };
}
