import { NavLink } from "./nav-link.client.tsx";
import { NavMenu } from "./nav-menu.client.tsx";

export type NavPage = Readonly<{
  href: string;
  label: string;
  /** The address of another page of the navigation begins with this one's. */
  isExact?: boolean;
}>;

export type NavSections = ReadonlyArray<Readonly<{ label: string; pages: ReadonlyArray<NavPage> }>>;

export type SideNavigationProps = Readonly<{
  /** What the pages are of: "Settings". */
  label: string;
  sections: NavSections;
}>;

/** The pages of one subject: a column beside the page, a menu above it on narrow screens. */
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
    <div className="grid gap-4 text-small">
      {sections.map((section) => (
        <div key={section.label}>
          <p className="px-3 pb-1 text-fine text-muted">{section.label}</p>
          <ul>
            {section.pages.map(({ href, label, isExact }) => (
              <li key={href}>
                <NavLink
                  href={href}
                  isExact={isExact}
                  className="block rounded-control px-3 py-1.5 text-muted hover:text-ink"
                  currentClassName="bg-sunken font-medium text-ink"
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
