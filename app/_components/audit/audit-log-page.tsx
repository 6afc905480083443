import { Download, ScrollText, SearchX } from "lucide-react";
import type { ReactNode } from "react";
import type { Person } from "#core/access/actor.ts";
import type { AuditScope } from "#core/accounts/audit-log/audit-query.ts";
import type { AuditPage } from "#core/accounts/audit-log/list-audit-entries.ts";
import { auditEventTypes } from "#core/audit/event-types.ts";
import { type AuditSearch, auditQuery, auditSearchOf, readAuditPage } from "../../_server/audit-log-search.ts";
import { hrefWith, type PageQuery } from "../../_server/page-query.ts";
import { ButtonLink, buttonClass } from "../button.tsx";
import { EmptyState, List, PageStep } from "../list.tsx";
import { LocalTime } from "../local-time.client.tsx";
import { Card, FormMessage, PageHeader, type PageHeaderProps } from "../page-layout.tsx";
import { Filter, SearchForm } from "../search-form.tsx";
import { AuditRow } from "./audit-row.tsx";

type AuditLogPageProps = Readonly<{
  person: Person;
  scope: AuditScope;
  base: string;
  query: Awaited<PageQuery>;
  header: PageHeaderProps;
  emptyText: string;
  isForOrganizations?: boolean;
  isOrganizationShown?: boolean;
  isExportable?: boolean;
  children?: ReactNode;
}>;

export async function AuditLogPage({ person, scope, base, query, header, children, ...shown }: AuditLogPageProps) {
  const { emptyText, isForOrganizations = false, isOrganizationShown = false, isExportable } = shown;
  const kinds = auditKinds({ isForOrganizations });
  const search = auditSearchOf(
    query,
    kinds.map(({ value }) => value),
  );
  const { page, problem } = await readAuditPage(person, scope, search);
  return (
    <>
      <PageHeader {...header} />
      <div className="grid grid-cols-1 gap-4">
        <AuditList {...{ page, base, search, kinds, problem, emptyText, isOrganizationShown }} />
        {isExportable && !problem && <ExportLinks action={`${base}/export`} q={auditQuery(search)} />}
        {children}
      </div>
    </>
  );
}

type AuditListProps = Readonly<{
  page: AuditPage;
  base: string;
  search: AuditSearch;
  kinds: readonly AuditKind[];
  problem: string | undefined;
  emptyText: string;
  isOrganizationShown: boolean;
}>;

const periods = [
  { value: "1", label: "Last 24 hours" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
] as const;

function AuditList({ page, base, search: sought, kinds, problem, emptyText, isOrganizationShown }: AuditListProps) {
  const { search, kind, days } = sought;
  const isSearched = search !== "" || kind !== "" || days !== "";
  const hrefOf = (to: { before?: string; after?: string }) => hrefWith(base, { search, kind, days, ...to });
  return (
    <div className="grid grid-cols-1 gap-4">
      <SearchForm action={base} label="Words, or author:, ip:, type:, since:, until:" value={search}>
        <Filter name="kind" label="About" value={kind} any="Everything" options={kinds} />
        <Filter name="days" label="When" value={days} any="Any time" options={periods} />
      </SearchForm>
      {problem && <FormMessage tone="bad">{problem}</FormMessage>}
      <div>
        <Card>
          {page.entries.length === 0 ? (
            isSearched ? (
              <EmptyState
                Icon={SearchX}
                title={page.searchedTo ? "No entries match so far" : "No entries match"}
                action={<ButtonLink href={base}>Show all entries</ButtonLink>}
              >
                Words match actions and their targets. Use author: and a username to find a person.
              </EmptyState>
            ) : (
              <EmptyState Icon={ScrollText} title="No entries yet">
                {emptyText}
              </EmptyState>
            )
          ) : (
            <List label="Entries, newest first">
              {page.entries.map((entry) => (
                <AuditRow key={entry.id} entry={entry} href={`${base}/${entry.id}`} isOrganizationShown={isOrganizationShown} />
              ))}
            </List>
          )}
        </Card>
        {page.searchedTo && (
          <p className="mt-3 text-muted text-small">
            The search covered only part of the log and stopped at <LocalTime at={page.searchedTo} />. The next page continues
            from there.
          </p>
        )}
        {(page.newerThan || page.olderThan) && (
          <nav aria-label="Pages of entries" className="mt-3 flex justify-end gap-2">
            {page.newerThan && <PageStep href={hrefOf({ after: page.newerThan })}>Newer</PageStep>}
            {page.olderThan && <PageStep href={hrefOf({ before: page.olderThan })}>Older</PageStep>}
          </nav>
        )}
      </div>
    </div>
  );
}

type ExportLinksProps = Readonly<{
  action: string;
  q: string;
}>;

const formats = [
  { format: "json", label: "JSON" },
  { format: "jsonl", label: "JSON lines" },
  { format: "csv", label: "CSV" },
] as const;

function ExportLinks({ action, q }: ExportLinksProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="inline-flex items-center gap-1.5 text-muted text-small">
        <Download className="size-4" aria-hidden="true" />
        Export
      </span>
      {formats.map(({ format, label }) => (
        <a
          key={format}
          href={`${action}?${new URLSearchParams({ format, q })}`}
          download=""
          className={buttonClass({ size: "small" })}
          aria-label={`Export as ${label}`}
        >
          {label}
        </a>
      ))}
    </div>
  );
}

const labels: Record<string, string> = {
  user: "Accounts and sign-in",
  second_step: "Second step",
  passkey: "Passkeys",
  totp: "Authenticator apps",
  recovery_code: "Recovery codes",
  linked_identity: "Linked accounts",
  personal_access_token: "Access tokens",
  organization: "Organization and members",
  identity_provider: "Identity providers",
  oauth_consent: "Consents",
  device: "Devices",
  oauth_token: "Exchanges and replays",
  oauth_logout_notice: "Sign-out notices",
  oauth_app: "OAuth apps",
  oauth_client_document: "Metadata documents",
  oauth_client_host: "App hosts",
  trusted_publisher: "Trusted publishers",
  ci_token: "CI exchanges",
  credential: "Leaked tokens",
  repo: "Repositories",
  access_request: "Access requests",
  discussion: "Discussions",
  collection: "Collections",
  audit_log: "Audit log",
  installation: "Installation",
  signing_key: "Signing keys",
  secret_key: "Encryption key",
  resource_server: "Resource servers",
  platform: "Platforms",
  mail: "Mail",
};

type AuditKind = Readonly<{ value: string; label: string }>;

function auditKinds({ isForOrganizations }: { isForOrganizations: boolean }): AuditKind[] {
  const types = Object.entries(auditEventTypes).filter(([, described]) => !isForOrganizations || described.isInOrgLog);
  const scopes = [...new Set(types.map(([type]) => type.slice(0, type.indexOf("."))))];
  return scopes
    .map((value) => ({ value, label: labels[value] ?? labelOf(value) }))
    .sort((one, other) => one.label.localeCompare(other.label, "en"));
}

function labelOf(scope: string): string {
  const words = scope.replaceAll("_", " ");
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
