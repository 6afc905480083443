import type { Metadata } from "next";
import Link from "next/link";
import { roleInOrganization } from "#core/access/standing-in-organization.ts";
import { findInvitation, type Invitation } from "#core/accounts/organizations/invitations/find-invitation.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { Gone } from "../../_components/gone.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { signInPath } from "../../_server/next-path.ts";
import { currentSession } from "../../_server/session.ts";
import { acceptInvitationAction } from "./actions.ts";

export const metadata: Metadata = { title: "Invitation" };

/** What each role may do, in one sentence. */
const roles: Record<Invitation["role"], string> = {
  read: "see what is private to the organization",
  contributor: "create repositories there and change those that you created",
  write: "change every repository there",
  admin: "change everything there, members and settings too",
};

/** Asks the person who followed the mail whether their account should join. */
export default async function InvitationPage({ params }: Readonly<{ params: Promise<{ token: string }> }>) {
  const { token } = await params;
  const [invitation, session] = await Promise.all([findInvitation(token), currentSession()]);
  if (!invitation) {
    return (
      <Gone title="This invitation no longer works" action={<ButtonLink href="/">Go to the start</ButtonLink>}>
        It was used, taken back or is too old. Ask the organization for a new one.
      </Gone>
    );
  }
  if (session && (await roleInOrganization(session.userId, invitation.orgId))) return <AlreadyMember invitation={invitation} />;
  const here = `/invitations/${encodeURIComponent(token)}`;
  return (
    <CardFrame>
      <InvitationHeader invitation={invitation} />
      {session ? (
        <>
          <AccountLine
            user={session.user}
            action={
              <Link prefetch={false} className="link" href={`/login?${new URLSearchParams({ switch: "1", next: here })}`}>
                Switch account
              </Link>
            }
          />
          <div className="px-6 py-5">
            <ActionForm action={acceptInvitationAction}>
              <input type="hidden" name="token" value={token} />
              <SubmitButton isWide>Join {invitation.organization.name}</SubmitButton>
            </ActionForm>
          </div>
        </>
      ) : (
        <div className="grid gap-3 border-line border-t px-6 py-5">
          <ButtonLink variant="primary" href={signInPath(here)}>
            Sign in to join
          </ButtonLink>
          <ButtonLink href={`/signup?${new URLSearchParams({ next: here })}`}>Create an account</ButtonLink>
        </div>
      )}
    </CardFrame>
  );
}

function InvitationHeader({ invitation: { organization, invitedBy, role, expiresAt } }: Readonly<{ invitation: Invitation }>) {
  return (
    <header className="px-6 pt-6 pb-5">
      <Avatar
        name={organization.fullName}
        src={avatarSrc(organization.name, organization.avatarId)}
        size="lg"
        kind="organization"
      />
      <h1 className="mt-4 break-words">Join {organization.fullName}</h1>
      <p className="mt-1.5 text-muted">
        {invitedBy ?? "The operator"} invites you with the role <strong className="text-ink">{role}</strong>: you may{" "}
        {roles[role]}.
      </p>
      <p className="mt-1.5 text-muted text-small">
        The invitation ends <RelativeTime at={expiresAt} />.
      </p>
    </header>
  );
}

function AlreadyMember({ invitation: { organization } }: Readonly<{ invitation: Invitation }>) {
  return (
    <Gone
      title={`You are in ${organization.fullName} already`}
      action={<ButtonLink href={`/${organization.name}`}>Go to {organization.name}</ButtonLink>}
    >
      The invitation stays open for whoever else it was meant for.
    </Gone>
  );
}
