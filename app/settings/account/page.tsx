import { MonitorSmartphone } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { listSoleAdministrations } from "#core/accounts/organizations/find-organization.ts";
import { type ListedSiteSession, listSiteSessions } from "#core/accounts/sessions/list-site-sessions.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { FormMessage, PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { organizationPath } from "../../_server/organization-page.ts";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireSession, type SiteSession } from "../../_server/session.ts";
import { changeEmailAction, deleteAccountAction, endOtherSessionsAction, endSessionAction } from "../actions.ts";

export const metadata: Metadata = { title: "E-mail and sessions" };

const notices = {
  "email-changed": "E-mail address changed.",
  "session-ended": "Session ended.",
  "sessions-ended": "All other sessions ended.",
};

export default async function AccountPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession("/settings/account");
  const { user } = session;
  return (
    <PageColumn
      title="E-mail and sessions"
      description="Your e-mail address and your sessions."
      notice={noticeOf(notices, (await searchParams).notice)}
    >
      <EmailSection user={user} isRecent={isRecentlyAuthenticated(session)} />
      <SessionsSection sessions={await listSiteSessions(user.id)} currentId={session.id} />
      <DeleteSection user={user} />
    </PageColumn>
  );
}

type EmailSectionProps = Readonly<{ user: SiteSession["user"]; isRecent: boolean }>;

/** Anyone who controls the email address can take over the account, so a change needs recent authentication (S113). */
function EmailSection({ user, isRecent }: EmailSectionProps) {
  return (
    <SectionCard title="E-mail" description="Used for signing in, for password resets, and by apps that you allow to see it.">
      <p className="mb-5 break-words">
        Your address is <strong>{user.email}</strong>.
      </p>
      {isRecent ? (
        <ActionForm action={changeEmailAction} className="grid max-w-reading gap-5">
          <Field
            name="email"
            type="email"
            label="New e-mail"
            autoComplete="email"
            hint={
              isMailSent()
                ? "We will send a link to the new address. Your address changes when you open the link and confirm."
                : "This server does not send e-mail. Its operator can give you the link that confirms the new address."
            }
          />
          <SubmitButton variant="secondary">Change e-mail</SubmitButton>
        </ActionForm>
      ) : (
        <ProveIdentity returnTo="/settings/account">Confirm your identity to change it.</ProveIdentity>
      )}
    </SectionCard>
  );
}

type SessionsSectionProps = Readonly<{
  sessions: readonly ListedSiteSession[];
  currentId: string;
}>;

function SessionsSection({ sessions, currentId }: SessionsSectionProps) {
  const current = sessions.filter(({ id }) => id === currentId);
  const others = sessions.filter(({ id }) => id !== currentId);
  return (
    <div id="sessions" className="scroll-mt-4">
      <SectionCard
        title="Sessions"
        description="The browsers in which you are signed in. If you do not recognize one, end its session and, if you have a password, change it."
        isFlush
        action={
          others.length > 0 && (
            <ActionButton action={endOtherSessionsAction} variant="danger">
              End all others
            </ActionButton>
          )
        }
      >
        <List>
          {[...current, ...others].map((session) => (
            <ListRow
              key={session.id}
              leading={<MonitorSmartphone className="size-5 text-muted" aria-hidden="true" />}
              title={
                <>
                  {session.device}
                  {session.id === currentId && <Chip tone="good">This session</Chip>}
                </>
              }
              meta={
                <>
                  {session.ip ?? "Unknown IP address"} · last seen <RelativeTime at={session.lastSeenAt} /> · signed in{" "}
                  <RelativeTime at={session.createdAt} />
                </>
              }
              trailing={session.id !== currentId && <EndSession session={session} />}
            />
          ))}
        </List>
      </SectionCard>
    </div>
  );
}

function EndSession({ session }: Readonly<{ session: ListedSiteSession }>) {
  return (
    <ActionButton action={endSessionAction} fields={{ sessionId: session.id }} variant="danger">
      End<span className="sr-only"> the session of {session.device}</span>
    </ActionButton>
  );
}

async function DeleteSection({ user }: Readonly<{ user: SiteSession["user"] }>) {
  const held = await listSoleAdministrations(user.id);
  return (
    <SectionCard title="Account deletion" isDanger description="This cannot be undone. Nobody can use your username again.">
      {held.length > 0 ? (
        <FormMessage>
          <p>
            You are the only administrator of {held.length === 1 ? "this organization" : "these organizations"}. Transfer or
            delete {held.length === 1 ? "it" : "each of them"} before you delete your account:
          </p>
          <ul className="mt-1 grid gap-0.5">
            {held.map(({ name, fullName }) => (
              <li key={name}>
                <Link prefetch={false} className="link" href={organizationPath(name, "settings/ownership")}>
                  <bdi>{fullName}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </FormMessage>
      ) : (
        <ConfirmDestructive
          action={deleteAccountAction}
          trigger="Delete my account"
          title={`Delete the account ${user.username}?`}
          confirm={`Delete ${user.username}`}
          phrase={user.username}
        >
          Your sessions, access tokens and memberships end immediately, connected apps lose access, and your OAuth apps stop
          working for everyone. Your repositories, collections, webhooks and jobs are deleted. What you wrote elsewhere stays,
          without your name.
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}
