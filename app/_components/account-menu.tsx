import { LogOut } from "lucide-react";
import Link from "next/link";
import { signOut } from "../_server/sign-out.ts";
import { Avatar } from "./avatar.tsx";
import { HideOnNavigation } from "./hide-on-navigation.client.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

export type AccountMenuProps = Readonly<{
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

/** Who is signed in, and where their things are. A popover: the browser opens, closes and focuses it, with no script. */
export function AccountMenu({ username, fullName, email, avatarUrl, isOperator }: AccountMenuProps) {
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
