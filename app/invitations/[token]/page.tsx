import type { Metadata } from "next";
import Link from "next/link";
import { roleInOrganization } from "#core/access/standing-in-organization.ts";
import { findInvitation, type Invitation } from "#core/accounts/organizations/invitations.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame, Gone } from "../../_components/card-frame.tsx";
import { PressGuard } from "../../_components/form-buttons.tsx";
import { roleNames, yourRoleSentences } from "../../_components/organization-wording.ts";
import { FormMessage } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { signInPath } from "../../_server/next-path.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { currentSession } from "../../_server/session.ts";
import { acceptInvitationAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Invitation" };

export default async function InvitationPage({ params }: Readonly<{ params: Promise<{ token: string }> }>) {
  const { token } = await params;
  const [invitation, session] = await Promise.all([findInvitation(token), currentSession()]);
  if (invitation && session && (await roleInOrganization(session.userId, invitation.orgId))) {
    return <AlreadyMember invitation={invitation} />;
  }
  if (invitation?.state !== "open") return <Ended invitation={invitation} isSignedIn={session !== undefined} />;
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
          <div className="grid gap-4 px-6 py-5">
            {session.user.email.toLowerCase() !== invitation.email.toLowerCase() && (
              <FormMessage tone="warn">
                The invitation is for <strong className="break-all">{invitation.email}</strong>, which is not the address of this
                account. If you have another account, switch to it first.
              </FormMessage>
            )}
            <ActionForm action={acceptInvitationAction}>
              <input type="hidden" name="token" value={token} />
              <PressGuard>
                <SubmitButton isWide>Join {invitation.organization.fullName}</SubmitButton>
              </PressGuard>
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
        {invitedBy ?? "The operator"} invites you to join with the role <strong className="text-ink">{roleNames[role]}</strong>:
        you can {yourRoleSentences[role]}.
      </p>
      <p className="mt-1.5 text-muted text-small">
        The invitation expires <RelativeTime at={expiresAt} />.
      </p>
    </header>
  );
}

function AlreadyMember({ invitation: { organization, state } }: Readonly<{ invitation: Invitation }>) {
  return (
    <Gone
      title={`You are already a member of ${organization.fullName}`}
      action={<ButtonLink href={organizationPath(organization.name)}>Go to {organization.fullName}</ButtonLink>}
    >
      {state === "open" ? "The invitation stays valid for the intended person." : "There is nothing else to do."}
    </Gone>
  );
}

function Ended({ invitation, isSignedIn }: Readonly<{ invitation: Invitation | undefined; isSignedIn: boolean }>) {
  const action = isSignedIn ? (
    <ButtonLink href="/organizations">Your organizations</ButtonLink>
  ) : (
    <ButtonLink href={signInPath("/organizations")}>Sign in</ButtonLink>
  );
  if (!invitation) {
    return (
      <Gone title="This invitation no longer works" action={action}>
        It was replaced by a newer one, or its URL is incomplete. {isMailSent() ? "Look for a later e-mail, or ask" : "Ask"} the
        organization for a new one.
      </Gone>
    );
  }
  const { state, organization, invitedBy, expiresAt } = invitation;
  const whom = invitedBy ?? "the operator";
  return (
    <Gone title={state === "accepted" ? "This invitation was already used" : "This invitation no longer works"} action={action}>
      {state === "accepted" &&
        `Someone used it to join ${organization.fullName}. If that was you, sign in with the account that joined.`}
      {state === "revoked" && `The invitation to ${organization.fullName} was revoked. Ask ${whom} for a new one.`}
      {state === "expired" && (
        <>
          The invitation to {organization.fullName} expired <RelativeTime at={expiresAt} />. Ask {whom} to send it again.
        </>
      )}
    </Gone>
  );
}
