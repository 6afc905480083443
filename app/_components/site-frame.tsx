import { LogOut, Menu, Plus } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { currentSession } from "../_server/session.ts";
import { signOut } from "../_server/sign-out.ts";
import { Avatar, avatarSrc } from "./avatar.tsx";
import { BrandMark } from "./brand-mark.tsx";
import { ButtonLink, buttonClass } from "./button.tsx";
import { ListKeys } from "./list-keys.client.tsx";
import { HideOnNavigation, NavLink } from "./navigation.client.tsx";
import { PageBody } from "./page-layout.tsx";
import { SearchDialog } from "./search-dialog.client.tsx";
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

type SiteFrameProps = Readonly<{
  children: ReactNode;
  /** Without `width`, `children` must contain `<main id="main">`. */
  width?: "page" | "reading";
  /** The path of a model's pages. These paths do not begin with `/models`. */
  modelPath?: string | undefined;
}>;

export async function SiteFrame({ children, width, modelPath }: SiteFrameProps) {
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
          <nav aria-label="Main" className="hidden gap-5 text-muted text-small lg:flex">
            {[...browse, ...(session ? own : [])].map(({ label, ...link }) => (
              <NavLink
                key={label}
                {...link}
                {...(link.href === "/models" && modelPath && { section: ["/models", modelPath] })}
                currentClassName="font-medium text-ink"
                className="hover:text-ink"
              >
                {label}
              </NavLink>
            ))}
          </nav>
          <div className="ml-auto flex shrink-0 items-center gap-2">
            <SearchDialog />
            <ListKeys />
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
                <div className="hidden lg:block">
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
      {width ? <PageBody width={width}>{children}</PageBody> : children}
    </>
  );
}

function SkipLink() {
  return (
    <a
      href="#main"
      className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-10 focus:rounded-control focus:border focus:border-line focus:bg-surface focus:px-3 focus:py-2 focus:text-small focus:shadow-menu"
    >
      Skip to content
    </a>
  );
}

type BrowseMenuProps = Readonly<{
  links: ReadonlyArray<Readonly<{ href: string; label: string }>>;
  /** Set for visitors, who have no account menu and so no theme switch. */
  isThemeShown: boolean;
}>;

/** A popover, so the menu needs no script. */
function BrowseMenu({ links, isThemeShown }: BrowseMenuProps) {
  return (
    <>
      <button
        type="button"
        popoverTarget="browse-menu"
        aria-label="Browse"
        className={buttonClass({ variant: "quiet", size: "icon" }, "lg:hidden")}
      >
        <Menu className="size-5" aria-hidden="true" />
      </button>
      <div
        id="browse-menu"
        popover="auto"
        className="inset-auto top-14 right-4 m-0 w-56 rounded-card border border-line bg-surface p-2 text-ink shadow-menu"
      >
        <nav aria-label="Browse">
          {links.map(({ href, label }) => (
            <Link
              key={href}
              prefetch={false}
              href={href}
              className="block rounded-control px-3 py-1.5 text-small hover:bg-sunken"
            >
              {label}
            </Link>
          ))}
        </nav>
        {isThemeShown && (
          <div className="mt-2 flex items-center justify-between border-line border-t px-3 pt-2 text-small">
            <span aria-hidden="true">Theme</span>
            <ThemeSwitch />
          </div>
        )}
      </div>
      <HideOnNavigation popoverId="browse-menu" />
    </>
  );
}

type AccountMenuProps = Readonly<{
  username: string;
  fullName: string;
  email: string;
  avatarUrl: string;
  isOperator: boolean;
}>;

const links = [
  { href: "/settings/profile", label: "Profile" },
  { href: "/settings/account", label: "E-mail and sessions" },
  { href: "/settings/security", label: "Security" },
  { href: "/settings/connected-applications", label: "Connected apps" },
  { href: "/settings/applications", label: "OAuth apps" },
  { href: "/organizations", label: "Organizations" },
] as const;
const operatorLinks = [{ href: "/admin", label: "Administration" }] as const;

const rowClass = "flex w-full items-center gap-2 rounded-control px-3 py-1.5 text-left text-small hover:bg-sunken";

/** A popover, so the menu needs no script. */
function AccountMenu({ username, fullName, email, avatarUrl, isOperator }: AccountMenuProps) {
  return (
    <>
      <button type="button" popoverTarget="account-menu" aria-label={`Account menu of ${username}`} className="rounded-full">
        <Avatar name={fullName || username} src={avatarUrl} />
      </button>
      <div
        id="account-menu"
        popover="auto"
        className="inset-auto top-14 right-4 m-0 w-64 rounded-card border border-line bg-surface p-2 text-ink shadow-menu sm:right-5"
      >
        <div className="border-line border-b px-3 pt-1 pb-2.5">
          <p className="truncate font-medium">{fullName || username}</p>
          <p className="truncate text-muted text-small">{email}</p>
        </div>
        <nav aria-label="Account" className="py-2">
          {[{ href: `/${username}`, label: "Your repositories" }, ...links, ...(isOperator ? operatorLinks : [])].map(
            ({ href, label }) => (
              <Link key={href} prefetch={false} href={href} className={rowClass}>
                {label}
              </Link>
            ),
          )}
        </nav>
        <div className="flex items-center justify-between border-line border-y px-3 py-2 text-small">
          <span aria-hidden="true">Theme</span>
          <ThemeSwitch />
        </div>
        <form action={signOut} className="pt-2">
          <button type="submit" className={rowClass}>
            <LogOut className="size-4 text-muted" aria-hidden="true" />
            Sign out
          </button>
        </form>
      </div>
      <HideOnNavigation popoverId="account-menu" />
    </>
  );
}
