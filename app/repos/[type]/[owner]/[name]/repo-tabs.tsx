import { NavLink } from "../../../../_components/nav-link.client.tsx";

export type RepoTab = Readonly<{
  href: string;
  label: string;
  isExact?: boolean;
  section?: string | readonly string[];
  /** How much awaits there. */
  count?: number;
}>;

/** The pages of a repository. On a narrow screen the row scrolls sideways. */
export function RepoTabs({ tabs }: Readonly<{ tabs: readonly RepoTab[] }>) {
  return (
    <nav aria-label="Repository" className="-mb-px flex gap-5 overflow-x-auto text-small">
      {tabs.map(({ label, count = 0, ...link }) => (
        <NavLink
          key={label}
          {...link}
          className="whitespace-nowrap border-transparent border-b-2 py-2 text-muted hover:text-ink"
          currentClassName="border-ink! font-medium text-ink!"
        >
          {label}
          {count > 0 && <span className="ml-1.5 rounded-full bg-sunken px-1.5 py-0.5 text-fine text-muted">{count}</span>}
        </NavLink>
      ))}
    </nav>
  );
}
