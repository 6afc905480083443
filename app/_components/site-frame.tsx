import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { currentSession } from "../_server/session.ts";
import { AccountMenu } from "./account-menu.tsx";
import { avatarSrc } from "./avatar-src.ts";
import { BrandMark } from "./brand-mark.tsx";
import { ButtonLink } from "./button.tsx";
import { NavLink } from "./nav-link.client.tsx";
import { SkipLink } from "./skip-link.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

/** The frame of an ordinary page: the header, and the page in its `<main>`, which the page itself provides by `id="main"`. */
export async function SiteFrame({ children }: Readonly<{ children: ReactNode }>) {
  const session = await currentSession();
  const { BRAND_NAME } = env();
  return (
    <>
      <SkipLink />
      <header className="border-line border-b bg-surface">
        <div className="flex h-14 items-center gap-4 px-4 sm:gap-6 sm:px-5">
          <Link prefetch={false} href="/" className="flex min-w-0 items-center gap-2 font-semibold tracking-tight">
            <BrandMark className="size-5 shrink-0 text-brand" />
            <span className="truncate">{BRAND_NAME}</span>
          </Link>
          {session && (
            <nav aria-label="Main" className="hidden gap-5 text-muted text-small sm:flex">
              <NavLink href="/organizations" currentClassName="font-medium text-ink" className="hover:text-ink">
                Organizations
              </NavLink>
              <NavLink
                href="/settings/profile"
                section="/settings"
                currentClassName="font-medium text-ink"
                className="hover:text-ink"
              >
                Settings
              </NavLink>
            </nav>
          )}
          <div className="ml-auto flex items-center gap-2">
            {session ? (
              <AccountMenu
                username={session.user.username}
                fullName={session.user.fullName}
                email={session.user.email}
                avatarUrl={avatarSrc(session.user.username, session.user.avatarId)}
                isOperator={session.user.isOperator}
              />
            ) : (
              <>
                <ThemeSwitch />
                <ButtonLink href="/login" size="small">
                  Sign in
                </ButtonLink>
              </>
            )}
          </div>
        </div>
      </header>
      {children}
    </>
  );
}
