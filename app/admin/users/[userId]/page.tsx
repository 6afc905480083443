import { AppWindow, Building2, KeyRound, MonitorSmartphone } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { hasSecondStep } from "#core/accounts/second-step/has-second-step.ts";
import { isServiceError } from "#core/errors.ts";
import { type InspectedUser, inspectUser } from "#core/operations/inspect-user.ts";
import { CopyField } from "../../../_components/copy-field.tsx";
import { FormMessage } from "../../../_components/form-message.tsx";
import { List, ListRow } from "../../../_components/list.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { RelativeTime } from "../../../_components/relative-time.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { requireOperator } from "../../../_server/operator-page.ts";
import { noticeOf, type PageQuery } from "../../../_server/page-query.ts";
import { UserChips } from "../user-chips.tsx";
import { USERS_PATH, userPath } from "../users-path.ts";
import { AccountActs } from "./account-acts.tsx";

export const metadata: Metadata = { title: "User · Administration" };

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  disabled: "The account is disabled. All its sessions and tokens have ended.",
  enabled: "The account is enabled again. Its person signs in anew, and apps ask anew.",
  "signed-out": "All sessions of the account have ended.",
  "second-step-reset": "The second step is gone. The password alone signs in, and its owner was written to.",
  operator: "This person is an operator now.",
  "no-operator": "This person is no operator any more.",
};

/** One account: who it is, what has access in its name, and what an operator can do about it. */
export default async function AdminUserPage({
  params,
  searchParams,
}: Readonly<{ params: Promise<{ userId: string }>; searchParams: PageQuery }>) {
  const [{ userId }, query] = await Promise.all([params, searchParams]);
  const operator = await requireOperator(userPath(userId));
  const inspected = await inspect(operator, userId);
  const { user } = inspected;
  const isTwoSteps = await hasSecondStep(user.id);
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        trail={[{ href: USERS_PATH, label: "Users" }]}
        title={<span className="wrap-anywhere">{user.username}</span>}
        status={<UserChips user={user} />}
        description={
          <>
            <bdi>{user.fullName}</bdi> · joined <RelativeTime at={user.createdAt} />
          </>
        }
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SectionCard title="Account">
          <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
            <CopyField label="E-mail address" value={user.email} />
            <CopyField label="Id" value={user.id} />
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
        <AccountActs user={user} operator={operator} sessionCount={inspected.sessions.length} hasSecondStep={isTwoSteps} />
      </div>
    </>
  );
}

async function inspect(operator: Person, userId: string): Promise<InspectedUser> {
  try {
    return await inspectUser(operator, userId);
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  }
}

type PartProps = Readonly<{ inspected: InspectedUser }>;

function Sessions({ inspected: { sessions } }: PartProps) {
  return (
    <SectionCard title="Sessions" isFlush={sessions.length > 0}>
      {sessions.length === 0 ? (
        <p className="text-muted">Signed in nowhere.</p>
      ) : (
        <List label="Sessions">
          {sessions.map((session) => (
            <ListRow
              key={session.id}
              leading={<MonitorSmartphone className="size-5 text-muted" aria-hidden="true" />}
              title={session.device}
              meta={
                <>
                  {session.ip ?? "Unknown address"} · seen <RelativeTime at={session.lastSeenAt} /> · since{" "}
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
                  <span className="wrap-anywhere">{app.scopes.join(" ")}</span> · first <RelativeTime at={app.firstUsedAt} />
                  {app.lastUsedAt && (
                    <>
                      {" · last "}
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
                  …{token.last4} · made <RelativeTime at={token.createdAt} /> ·{" "}
                  {token.lastUsedAt ? (
                    <>
                      last used <RelativeTime at={token.lastUsedAt} />
                    </>
                  ) : (
                    "never used"
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

function Organizations({ inspected: { organizations } }: PartProps) {
  return (
    <SectionCard title="Organizations" isFlush={organizations.length > 0}>
      {organizations.length === 0 ? (
        <p className="text-muted">In none.</p>
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
                  <bdi>{fullName}</bdi> · {role}
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
