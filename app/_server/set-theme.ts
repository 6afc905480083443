"use server";

import { cookies } from "next/headers";
import { env } from "#core/env.ts";
import { isTheme, THEME_COOKIE } from "./theme.ts";

const YEAR_SECONDS = 365 * 24 * 3600;

export async function setTheme(data: FormData): Promise<void> {
  const theme = data instanceof FormData && data.get("theme");
  if (!isTheme(theme)) return;
  (await cookies()).set(THEME_COOKIE, theme, {
    path: "/",
    maxAge: YEAR_SECONDS,
    sameSite: "lax",
    httpOnly: true,
    secure: env().ORIGIN.startsWith("https:"),
  });
}
