import { Plus } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { currentSession } from "../_server/session.ts";
import { AccountMenu } from "./account-menu.tsx";
import { avatarSrc } from "./avatar-src.ts";
import { BrandMark } from "./brand-mark.tsx";
import { BrowseMenu } from "./browse-menu.tsx";
import { ButtonLink } from "./button.tsx";
import { NavLink } from "./nav-link.client.tsx";
import { SkipLink } from "./skip-link.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

const browse = [
  { href: "/models", label: "Models" },
  { href: "/datasets", label: "Datasets" },
  { href: "/spaces", label: "Spaces" },
  { href: "/collections", label: "Collections" },
  { href: "/docs", label: "Docs" },
];
const own = [
  { href: "/organizations", label: "Organizations" },
  { href: "/settings/profile", section: "/settings", label: "Settings" },
];

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
          <nav aria-label="Main" className="hidden gap-5 text-muted text-small md:flex">
            {[...browse, ...(session ? own : [])].map(({ label, ...link }) => (
              <NavLink key={label} {...link} currentClassName="font-medium text-ink" className="hover:text-ink">
                {label}
              </NavLink>
            ))}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <BrowseMenu links={browse} isThemeShown={!session} />
            {session ? (
              <>
                <ButtonLink href="/new" size="small" aria-label="New repository">
                  <Plus className="size-4" aria-hidden="true" />
                  <span className="hidden sm:inline">New</span>
                </ButtonLink>
                <AccountMenu
                  username={session.user.username}
                  fullName={session.user.fullName}
                  email={session.user.email}
                  avatarUrl={avatarSrc(session.user.username, session.user.avatarId)}
                  isOperator={session.user.isOperator}
                />
              </>
            ) : (
              <>
                <div className="hidden md:block">
                  <ThemeSwitch />
                </div>
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
