import { Menu } from "lucide-react";
import Link from "next/link";
import { buttonClass } from "./button.tsx";
import { HideOnNavigation } from "./hide-on-navigation.client.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

export type BrowseMenuProps = Readonly<{
  links: ReadonlyArray<Readonly<{ href: string; label: string }>>;
  /** For those who have no account menu, which else has it. */
  isThemeShown: boolean;
}>;

/** What the header has no room for when it is narrow. A popover: the browser opens, closes and focuses it, with no script. */
export function BrowseMenu({ links, isThemeShown }: BrowseMenuProps) {
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
