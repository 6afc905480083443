import type { ReactNode } from "react";
import { NavLink, NavMenu } from "./navigation.client.tsx";
import { SiteFrame } from "./site-frame.tsx";

type SideFrameProps = Readonly<{
  navigation: ReactNode;
  children: ReactNode;
}>;

export function SideFrame({ navigation, children }: SideFrameProps) {
  return (
    <SiteFrame>
      <div className="mx-auto w-full max-w-page px-4 py-7 sm:px-5 lg:grid lg:grid-cols-(--columns-side) lg:gap-8">
        {navigation}
        <main id="main" className="min-w-0">
          {children}
        </main>
      </div>
    </SiteFrame>
  );
}

export type NavPage = Readonly<{
  href: string;
  label: string;
  /** The paths at which the page is marked as current, with all paths below. Default: `href`. */
  section?: string | readonly string[];
  /** Set if only the path itself counts, because the path of another page begins with this path. */
  isExact?: boolean;
}>;

export type NavSections = ReadonlyArray<Readonly<{ label: string; pages: ReadonlyArray<NavPage> }>>;

type SideNavigationProps = Readonly<{
  label: string;
  sections: NavSections;
}>;

export function SideNavigation({ label, sections }: SideNavigationProps) {
  return (
    <nav aria-label={label}>
      <div className="mb-5 lg:hidden">
        <NavMenu label={label} pages={sections.flatMap(({ pages }) => pages)}>
          <Groups sections={sections} />
        </NavMenu>
      </div>
      <div className="hidden lg:block">
        <Groups sections={sections} />
      </div>
    </nav>
  );
}

function Groups({ sections }: Readonly<{ sections: NavSections }>) {
  return (
    <div className="grid gap-4 text-muted text-small">
      {sections.map((section) => (
        <div key={section.label}>
          <p className="px-3 pb-1 text-fine">{section.label}</p>
          <ul>
            {section.pages.map(({ label, ...link }) => (
              <li key={link.href}>
                <NavLink
                  {...link}
                  className="block rounded-control px-3 py-1.5 hover:text-ink"
                  currentClassName="bg-line font-medium text-ink"
                >
                  {label}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
