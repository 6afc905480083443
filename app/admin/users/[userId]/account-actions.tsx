import type { Person } from "#core/access/actor.ts";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import type { UserProfile } from "#core/accounts/users/find-user.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../_components/details-form.client.tsx";
import { PressGuard } from "../../../_components/form-buttons.tsx";
import { SectionCard } from "../../../_components/page-layout.tsx";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import {
  deleteAction,
  disableAction,
  enableAction,
  endSessionsAction,
  resetSecondStepAction,
  setOperatorAction,
} from "../../actions.ts";
import { userPath } from "../../paths.ts";

type AccountActionsProps = Readonly<{ user: UserProfile; operator: Person; sessionCount: number; hasSecondStep: boolean }>;

export function AccountActions({ user, operator, sessionCount, hasSecondStep }: AccountActionsProps) {
  if (!isRecentlyAuthenticated(operator)) {
    return (
      <SectionCard title="Account actions">
        <ProveIdentity returnTo={userPath(user.id)}>Confirm your identity to change this account.</ProveIdentity>
      </SectionCard>
    );
  }
  return (
    <>
      <SectionCard title="Account actions" description="Each action is recorded in the audit log.">
        <div className="grid grid-cols-1 gap-5">
          <Operation user={user} />
          {sessionCount > 0 && (
            <ConfirmDestructive
              action={endSessionsAction.bind(null, user.id)}
              trigger="End all sessions"
              title={`Sign ${user.username} out everywhere?`}
              confirm={`End all sessions of ${user.username}`}
            >
              {sessionCount === 1 ? "The session ends" : `${sessionCount} sessions end`} immediately, and apps with sign-out
              notices are notified. Tokens stay valid. To revoke them too, disable the account.
            </ConfirmDestructive>
          )}
          {hasSecondStep && (
            <ConfirmDestructive
              action={resetSecondStepAction.bind(null, user.id)}
              trigger="Reset the second step"
              title={`Reset the second step of ${user.username}?`}
              confirm={`Reset the second step of ${user.username}`}
            >
              For users who lost it: deletes their passkeys, authenticator app and recovery codes, so that the password or a
              linked account alone is enough to sign in. Verify the identity of the person who asks.{" "}
              {isMailSent() && "The user is notified by e-mail. "}Sessions and tokens stay valid.
            </ConfirmDestructive>
          )}
        </div>
      </SectionCard>
      <SectionCard title="Disabling and deletion" isDanger>
        <div className="grid grid-cols-1 gap-5">
          {user.disabledAt ? <Enable user={user} /> : <Disable user={user} />}
          <ConfirmDestructive
            action={deleteAction.bind(null, user.id)}
            trigger="Delete the account"
            title={`Delete ${user.username} permanently?`}
            confirm={`Delete ${user.username}`}
            phrase={user.username}
          >
            Deletes their repositories, collections, apps, webhooks, jobs and tokens. Their comments elsewhere stay, without their
            name. Nobody can use the name again. This cannot be undone. To lock someone out temporarily, disable the account
            instead.
          </ConfirmDestructive>
        </div>
      </SectionCard>
    </>
  );
}

type PartProps = Readonly<{ user: UserProfile }>;

function Operation({ user: { id, username, isOperator } }: PartProps) {
  if (isOperator) {
    return (
      <ConfirmDestructive
        action={setOperatorAction.bind(null, id, false)}
        trigger="Remove operator"
        title={`Remove ${username} as an operator?`}
        confirm={`Remove ${username} as an operator`}
      >
        They lose access to these pages immediately, and the invitations that they sent are revoked.
      </ConfirmDestructive>
    );
  }
  return (
    <ConfirmDestructive
      action={setOperatorAction.bind(null, id, true)}
      trigger="Make operator"
      title={`Make ${username} an operator of the service?`}
      confirm={`Make ${username} an operator`}
    >
      Operators can do everything on these pages: see and delete every account, and make others operators.
    </ConfirmDestructive>
  );
}

function Disable({ user: { id, username } }: PartProps) {
  return (
    <ConfirmDestructive
      action={disableAction.bind(null, id)}
      trigger="Disable the account"
      title={`Disable ${username}?`}
      confirm={`Disable ${username}`}
    >
      All sessions end and all tokens are revoked immediately, including those of apps, and the public repositories of the account
      are hidden. The trusted publishers that it added, in organizations too, are deleted, and the invitations that it sent are
      revoked. Its name, memberships and apps are kept, so that you can enable it again.
    </ConfirmDestructive>
  );
}

function Enable({ user: { id, username } }: PartProps) {
  return (
    <ActionForm action={enableAction.bind(null, id)} label={`Enable ${username}`} className="grid gap-2">
      <p className="text-muted text-small">
        The account is disabled. After you enable it, the user must sign in and authorize apps again.
      </p>
      <PressGuard>
        <SubmitButton variant="secondary">Enable {username}</SubmitButton>
      </PressGuard>
    </ActionForm>
  );
}
