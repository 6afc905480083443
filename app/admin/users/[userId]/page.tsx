import { AppWindow, Building2, KeyRound, MonitorSmartphone } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { hasSecondStep } from "#core/accounts/second-step/find-second-step.ts";
import { type InspectedUser, inspectUser } from "#core/operations/inspect-user.ts";
import { CopyField } from "../../../_components/copyable.tsx";
import { List, ListRow } from "../../../_components/list.tsx";
import { roleNames } from "../../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../../_components/page-layout.tsx";
import { LastUsed, RelativeTime } from "../../../_components/relative-time.tsx";
import { orNotFound } from "../../../_server/or-not-found.ts";
import { noticeOf, type PageQuery } from "../../../_server/page-query.ts";
import { requireOperator } from "../../../_server/session.ts";
import { USERS_PATH, userPath } from "../../paths.ts";
import { UserChips } from "../user-chips.tsx";
import { AccountActions } from "./account-actions.tsx";

export const metadata: Metadata = { title: "User · Administration" };

const notices: Record<string, string> = {
  disabled: "Account disabled. All its sessions and tokens are revoked.",
  enabled: "Account enabled. The user must sign in and authorize apps again.",
  "signed-out": "All sessions of the account ended.",
  "second-step-reset": "Second step reset. The user now signs in with one step.",
  operator: "This user is now an operator.",
  "no-operator": "This user is no longer an operator.",
};

export default async function AdminUserPage({
  params,
  searchParams,
}: Readonly<{ params: Promise<{ userId: string }>; searchParams: PageQuery }>) {
  const [{ userId }, query] = await Promise.all([params, searchParams]);
  const operator = await requireOperator(userPath(userId));
  const inspected = await orNotFound(inspectUser(operator, userId));
  const { user } = inspected;
  const isTwoSteps = await hasSecondStep(user.id);
  return (
    <PageColumn
      trail={[{ href: USERS_PATH, label: "Users" }]}
      title={<span className="wrap-anywhere">{user.username}</span>}
      status={<UserChips user={user} />}
      description={
        <>
          <bdi>{user.fullName}</bdi> · joined <RelativeTime at={user.createdAt} />
        </>
      }
      notice={noticeOf(notices, query.notice)}
    >
      <SectionCard title="Account">
        <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
          <CopyField label="E-mail address" value={user.email} />
          <CopyField label="ID" value={user.id} />
        </div>
        <p className="mt-4 text-small">
          <Link prefetch={false} href={`/${user.username}`} className="link">
            Public profile
          </Link>
        </p>
      </SectionCard>
      <Sessions inspected={inspected} />
      <Apps inspected={inspected} />
      <Tokens inspected={inspected} />
      <Organizations inspected={inspected} />
      <AccountActions user={user} operator={operator} sessionCount={inspected.sessions.length} hasSecondStep={isTwoSteps} />
    </PageColumn>
  );
}

type PartProps = Readonly<{ inspected: InspectedUser }>;

function Sessions({ inspected: { sessions } }: PartProps) {
  return (
    <SectionCard title="Sessions" isFlush={sessions.length > 0}>
      {sessions.length === 0 ? (
        <p className="text-muted">No sessions.</p>
      ) : (
        <List label="Sessions">
          {sessions.map((session) => (
            <ListRow
              key={session.id}
              leading={<MonitorSmartphone className="size-5 text-muted" aria-hidden="true" />}
              title={session.device}
              meta={
                <>
                  {session.ip ?? "Unknown IP address"} · last seen <RelativeTime at={session.lastSeenAt} /> · signed in{" "}
                  <RelativeTime at={session.createdAt} />
                </>
              }
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function Apps({ inspected: { apps } }: PartProps) {
  return (
    <SectionCard title="Connected apps" description={shownOf(apps.items.length, apps.total)} isFlush={apps.total > 0}>
      {apps.total === 0 ? (
        <p className="text-muted">No app has access.</p>
      ) : (
        <List label="Connected apps">
          {apps.items.map((app) => (
            <ListRow
              key={app.consentId}
              leading={<AppWindow className="size-5 text-muted" aria-hidden="true" />}
              title={<bdi className="wrap-anywhere min-w-0">{app.name}</bdi>}
              meta={
                <>
                  <span className="wrap-anywhere">{app.scopes.join(" ")}</span> · first used <RelativeTime at={app.firstUsedAt} />
                  {app.lastUsedAt && (
                    <>
                      {" · last used "}
                      <RelativeTime at={app.lastUsedAt} />
                    </>
                  )}
                </>
              }
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function Tokens({ inspected: { tokens } }: PartProps) {
  return (
    <SectionCard title="Access tokens" description={shownOf(tokens.items.length, tokens.total)} isFlush={tokens.total > 0}>
      {tokens.total === 0 ? (
        <p className="text-muted">None.</p>
      ) : (
        <List label="Access tokens">
          {tokens.items.map((token) => (
            <ListRow
              key={token.id}
              leading={<KeyRound className="size-5 text-muted" aria-hidden="true" />}
              title={<bdi className="wrap-anywhere min-w-0">{token.name}</bdi>}
              meta={
                <>
                  …{token.last4} · created <RelativeTime at={token.createdAt} /> · <LastUsed at={token.lastUsedAt} />
                </>
              }
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function Organizations({ inspected: { organizations } }: PartProps) {
  return (
    <SectionCard title="Organizations" isFlush={organizations.length > 0}>
      {organizations.length === 0 ? (
        <p className="text-muted">None.</p>
      ) : (
        <List label="Organizations">
          {organizations.map(({ id, name, fullName, role }) => (
            <ListRow
              key={id}
              leading={<Building2 className="size-5 text-muted" aria-hidden="true" />}
              title={
                <Link prefetch={false} href={`/organizations/${name}`} className="link wrap-anywhere min-w-0">
                  {name}
                </Link>
              }
              meta={
                <>
                  <bdi>{fullName}</bdi> · {roleNames[role]}
                </>
              }
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function shownOf(shown: number, total: number): string | undefined {
  return total > shown ? `The latest ${shown} of ${total.toLocaleString("en")}.` : undefined;
}
