import { cookies } from "next/headers";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** The theme is not tied to an account, because it also applies to the sign-in and consent pages. */
export const THEME_COOKIE = "theme";

export function isTheme(value: unknown): value is Theme {
  return THEMES.includes(value as Theme);
}

export async function chosenTheme(): Promise<Theme> {
  const value = (await cookies()).get(THEME_COOKIE)?.value;
  return isTheme(value) ? value : "system";
}
