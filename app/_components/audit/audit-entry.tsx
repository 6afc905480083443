import Link from "next/link";
import type { ReactNode } from "react";
import { authorOf, messageOf } from "#core/accounts/audit-log/audit-event-on-the-wire.ts";
import type { AuditPlace } from "#core/accounts/audit-log/find-audit-place.ts";
import type { AuditRow } from "#core/accounts/audit-log/read-audit-entries.ts";
import { CodeBlock } from "../code-block.tsx";
import { PageHeader } from "../page-header.tsx";
import { SectionCard } from "../section-card.tsx";
import { auditPath } from "./audit-path.ts";
import { describeToken } from "./audit-row.tsx";

export type AuditEntryProps = Readonly<{
  entry: AuditRow;
  place: AuditPlace | undefined;
  /** The list that it hangs in. */
  base: string;
  listLabel: string;
}>;

const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long", timeZone: "UTC" });

/** One entry with all that is kept of it. Its address can be sent to others who may read it. */
export function AuditEntry({ entry, place, base, listLabel }: AuditEntryProps) {
  const { actorId, actorName, subjectId, subjectName, clientId, clientName, token, isTokenGone, orgName } = entry;
  const data = JSON.stringify(entry.data, null, 2);
  const author = actorName ?? actorId ?? "system";
  return (
    <>
      <PageHeader title={`${authorOf(entry)} ${messageOf(entry)}`} trail={[{ href: base, label: listLabel }]} />
      <div className="grid grid-cols-1 gap-5">
        <SectionCard title="Entry">
          <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[max-content_1fr]">
            <Fact name="Who">
              <Link prefetch={false} className="link" href={auditPath(base, { search: `author:${author}` })}>
                {authorOf(entry)}
              </Link>
              {actorId && !actorName && <Code>{actorId}</Code>}
            </Fact>
            <Fact name="What">
              <Link
                prefetch={false}
                className="link font-mono text-small"
                href={auditPath(base, { search: `type:${entry.type}` })}
              >
                {entry.type}
              </Link>
            </Fact>
            {subjectId && <Fact name="On whom">{subjectName ?? <Code>{subjectId}</Code>}</Fact>}
            {clientId && (
              <Fact name="App">
                {clientName ? `${clientName} ` : ""}
                <Code>{clientId}</Code>
              </Fact>
            )}
            {orgName && <Fact name="Organization">{orgName}</Fact>}
            <Fact name="When">
              <time dateTime={entry.createdAt.toISOString()}>{exact.format(entry.createdAt)}</time>
            </Fact>
            <Fact name="From">
              {entry.ip ? (
                <Link prefetch={false} className="link font-mono text-small" href={auditPath(base, { search: `ip:${entry.ip}` })}>
                  {entry.ip}
                </Link>
              ) : (
                "Not known"
              )}
              {entry.userAgent && <div className="break-words text-muted text-small">{entry.userAgent}</div>}
            </Fact>
            {token && (
              <Fact name="Token">
                {describeToken(token)}
                {isTokenGone && <span className="text-muted"> (revoked by now)</span>}
              </Fact>
            )}
            <Fact name="Entry">
              <Code>{entry.id}</Code>
            </Fact>
            <Fact name="In the chain">
              {place ? (
                <>
                  Number {place.seq}
                  <div className="break-all font-mono text-fine text-muted">{place.hash}</div>
                </>
              ) : (
                "It gets its place within seconds"
              )}
            </Fact>
          </dl>
        </SectionCard>
        {data !== "{}" && (
          <SectionCard title="Details">
            <CodeBlock code={data} label="Details of the entry" />
          </SectionCard>
        )}
      </div>
    </>
  );
}

function Fact({ name, children }: Readonly<{ name: string; children: ReactNode }>) {
  return (
    <div className="min-w-0 sm:contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

const Code = ({ children }: Readonly<{ children: string }>) => <code className="break-all text-small">{children}</code>;
