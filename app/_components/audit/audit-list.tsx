import { ScrollText, SearchX } from "lucide-react";
import Link from "next/link";
import type { AuditPage } from "#core/accounts/audit-log/list-audit-entries.ts";
import { ButtonLink, buttonClass } from "../button.tsx";
import { Card } from "../card.tsx";
import { EmptyState } from "../empty-state.tsx";
import { FormMessage } from "../form-message.tsx";
import { List } from "../list.tsx";
import { SearchForm } from "../search-form.tsx";
import { Select } from "../select.client.tsx";
import type { AuditKind } from "./audit-kinds.ts";
import { type AuditAddress, auditPath } from "./audit-path.ts";
import { AuditRow } from "./audit-row.tsx";

export type AuditListProps = Readonly<{
  page: AuditPage;
  /** The page's own address, below which each entry has its own. */
  base: string;
  address: Required<Pick<AuditAddress, "search" | "kind" | "days">>;
  kinds: readonly AuditKind[];
  /** What is wrong with the search. */
  problem?: string | undefined;
  /** What will be here, while there is nothing. */
  emptyText: string;
  isOrganizationShown?: boolean;
}>;

const periods = [
  { value: "", label: "Any time" },
  { value: "1", label: "Last 24 hours" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
] as const;

/** A part of the audit log: search, entries, and the way to older and newer ones. */
export function AuditList({ page, base, address, kinds, problem, emptyText, isOrganizationShown = false }: AuditListProps) {
  const { search, kind, days } = address;
  const isSearched = search !== "" || kind !== "" || days !== "";
  return (
    <div className="grid grid-cols-1 gap-4">
      <SearchForm action={base} label="Words, or author:, ip:, type:, since:, until:" value={search}>
        <div className="min-w-44 flex-1 sm:flex-none">
          <Select name="kind" label="About" defaultValue={kind} options={[{ value: "", label: "Everything" }, ...kinds]} />
        </div>
        <div className="min-w-36 flex-1 sm:flex-none">
          <Select name="days" label="When" defaultValue={days} options={periods} />
        </div>
      </SearchForm>
      {problem && <FormMessage tone="bad">{problem}</FormMessage>}
      <div>
        <Card>
          {page.entries.length === 0 ? (
            isSearched ? (
              <EmptyState
                Icon={SearchX}
                title={page.searchedTo ? "No entry is like that so far" : "No entry is like that"}
                action={<ButtonLink href={base}>Show all entries</ButtonLink>}
              >
                Words are found in what was done and to what; a person by author: and their username.
              </EmptyState>
            ) : (
              <EmptyState Icon={ScrollText} title="Nothing has happened yet">
                {emptyText}
              </EmptyState>
            )
          ) : (
            <List label="Entries, the newest first">
              {page.entries.map((entry) => (
                <AuditRow key={entry.id} entry={entry} href={`${base}/${entry.id}`} isOrganizationShown={isOrganizationShown} />
              ))}
            </List>
          )}
        </Card>
        {page.searchedTo && (
          <p className="mt-3 text-muted text-small">
            The search covered only part of the log, back to {page.searchedTo.toISOString().slice(0, 16).replace("T", " ")} UTC.
            The next page continues from there.
          </p>
        )}
        {(page.newerThan || page.olderThan) && (
          <nav aria-label="Pages of entries" className="mt-3 flex justify-end gap-2">
            {page.newerThan && <Step href={auditPath(base, { search, kind, days, after: page.newerThan })}>Newer</Step>}
            {page.olderThan && <Step href={auditPath(base, { search, kind, days, before: page.olderThan })}>Older</Step>}
          </nav>
        )}
      </div>
    </div>
  );
}

function Step({ href, children }: Readonly<{ href: string; children: string }>) {
  return (
    <Link prefetch={false} href={href} className={buttonClass({ size: "small" })}>
      {children}
    </Link>
  );
}
