import Link from "next/link";
import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import type { Person } from "#core/access/actor.ts";
import { authorOf, messageOf } from "#core/accounts/audit-log/audit-event-on-the-wire.ts";
import type { AuditScope } from "#core/accounts/audit-log/audit-query.ts";
import { findAuditEntry, findAuditPlace } from "#core/accounts/audit-log/list-audit-entries.ts";
import type { AuditRow } from "#core/accounts/audit-log/read-audit-entries.ts";
import { isServiceError } from "#core/errors.ts";
import { hrefWith } from "../../_server/page-query.ts";
import { CodeBlock } from "../copyable.tsx";
import { LocalTime } from "../local-time.client.tsx";
import { PageColumn, SectionCard } from "../page-layout.tsx";
import { describeToken } from "./audit-row.tsx";

type AuditEntryPageProps = Readonly<{
  person: Person;
  scope: AuditScope;
  id: string;
  base: string;
  listLabel: string;
}>;

export async function AuditEntryPage({ person, scope, id, base, listLabel }: AuditEntryPageProps) {
  const entry = await findEntry(person, scope, id);
  const place = await findAuditPlace(entry.id);
  const { actorId, actorName, subjectId, subjectName, clientId, clientName, token, isTokenGone, orgName } = entry;
  const data = JSON.stringify(entry.data, null, 2);
  const author = actorName ?? actorId ?? "system";
  return (
    <PageColumn title={`${authorOf(entry)} ${messageOf(entry)}`} trail={[{ href: base, label: listLabel }]}>
      <SectionCard title="Entry">
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[max-content_1fr]">
          <Fact name="Who">
            <Link prefetch={false} className="link" href={hrefWith(base, { search: `author:${author}` })}>
              {authorOf(entry)}
            </Link>
            {actorId && !actorName && <Code>{actorId}</Code>}
          </Fact>
          <Fact name="What">
            <Link prefetch={false} className="link font-mono text-small" href={hrefWith(base, { search: `type:${entry.type}` })}>
              {entry.type}
            </Link>
          </Fact>
          {subjectId && <Fact name="Target">{subjectName ?? <Code>{subjectId}</Code>}</Fact>}
          {clientId && (
            <Fact name="App">
              {clientName ? `${clientName} ` : ""}
              <Code>{clientId}</Code>
            </Fact>
          )}
          {orgName && <Fact name="Organization">{orgName}</Fact>}
          <Fact name="When">
            <LocalTime at={entry.createdAt} />
          </Fact>
          <Fact name="From">
            {entry.ip ? (
              <Link prefetch={false} className="link font-mono text-small" href={hrefWith(base, { search: `ip:${entry.ip}` })}>
                {entry.ip}
              </Link>
            ) : (
              "Not available"
            )}
            {entry.userAgent && <div className="break-words text-muted text-small">{entry.userAgent}</div>}
          </Fact>
          {token && (
            <Fact name="Token">
              {describeToken(token)}
              {isTokenGone && <span className="text-muted"> (revoked)</span>}
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
              "Not yet"
            )}
          </Fact>
        </dl>
      </SectionCard>
      {data !== "{}" && (
        <SectionCard title="Details">
          <CodeBlock code={data} label="Details of the entry" />
        </SectionCard>
      )}
    </PageColumn>
  );
}

async function findEntry(person: Person, scope: AuditScope, id: string): Promise<AuditRow> {
  try {
    return await findAuditEntry(person, scope, id);
  } catch (error) {
    if (isServiceError(error)) notFound();
    throw error;
  }
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
