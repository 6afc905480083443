import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./globals.css";
import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { noteBeginning } from "./_server/page-status.ts";
import { chosenTheme } from "./_server/theme.ts";

/** The brand is a setting of the running service, so each request creates the titles. */
export function generateMetadata(): Metadata {
  const { BRAND_NAME, ORIGIN } = env();
  return {
    metadataBase: new URL(ORIGIN),
    title: { default: BRAND_NAME, template: `%s · ${BRAND_NAME}` },
    description: `Sign in to websites, apps and command-line tools with your ${BRAND_NAME} account, and decide what each may do.`,
    icons: { icon: [{ url: "/favicon.svg", type: "image/svg+xml" }], apple: "/apple-touch-icon.png" },
    robots: { index: false },
  };
}

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f7f6f3" },
    { media: "(prefers-color-scheme: dark)", color: "#131211" },
  ],
};

export default async function RootLayout({ children }: Readonly<{ children: ReactNode }>) {
  noteBeginning();
  const theme = await chosenTheme();
  return (
    <html lang="en" data-theme={theme === "system" ? undefined : theme}>
      <body className="flex min-h-dvh flex-col">{children}</body>
    </html>
  );
}
