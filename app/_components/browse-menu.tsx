import { Menu } from "lucide-react";
import Link from "next/link";
import { buttonClass } from "./button.tsx";
import { HideOnNavigation } from "./hide-on-navigation.client.tsx";

/** The links of the header where it is too narrow for them. A popover: the browser opens, closes and focuses it, with no script. */
export function BrowseMenu({ links }: Readonly<{ links: ReadonlyArray<Readonly<{ href: string; label: string }>> }>) {
  return (
    <>
      <button
        type="button"
        popoverTarget="browse-menu"
        aria-label="Browse"
        className={buttonClass({ variant: "quiet", size: "icon" }, "md:hidden")}
      >
        <Menu className="size-5" aria-hidden="true" />
      </button>
      <nav
        id="browse-menu"
        popover="auto"
        aria-label="Browse"
        className="inset-auto top-14 right-4 m-0 w-48 rounded-card border border-line bg-surface p-2 text-ink shadow-menu"
      >
        {links.map(({ href, label }) => (
          <Link key={href} prefetch={false} href={href} className="block rounded-control px-3 py-1.5 text-small hover:bg-sunken">
            {label}
          </Link>
        ))}
      </nav>
      <HideOnNavigation popoverId="browse-menu" />
    </>
  );
}
