import type { Person } from "#core/access/actor.ts";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import type { UserProfile } from "#core/accounts/users/find-user.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../_components/confirm-destructive.client.tsx";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { userPath } from "../users-path.ts";
import {
  deleteAction,
  disableAction,
  enableAction,
  endSessionsAction,
  resetSecondStepAction,
  setOperatorAction,
} from "./actions.ts";

export type AccountActsProps = Readonly<{ user: UserProfile; operator: Person; sessionCount: number; hasSecondStep: boolean }>;

/** What an operator can do about an account. Each act asks, and is in the audit log. */
export function AccountActs({ user, operator, sessionCount, hasSecondStep }: AccountActsProps) {
  if (!isRecentlyAuthenticated(operator)) {
    return (
      <SectionCard title="Change this account">
        <ProveIdentity returnTo={userPath(user.id)}>To change somebody's account, confirm that it is you.</ProveIdentity>
      </SectionCard>
    );
  }
  return (
    <>
      <SectionCard title="Change this account" description="Each of these is recorded in the audit log.">
        <div className="grid grid-cols-1 gap-5">
          <Operation user={user} />
          {sessionCount > 0 && (
            <ConfirmDestructive
              action={endSessionsAction.bind(null, user.id)}
              trigger="End all sessions"
              title={`Sign ${user.username} out everywhere?`}
              confirm={`End all sessions of ${user.username}`}
            >
              {sessionCount === 1 ? "The session ends" : `${sessionCount} sessions end`} at once, and apps that sign people out
              with us are told. Tokens stay: to end those too, disable the account.
            </ConfirmDestructive>
          )}
          {hasSecondStep && (
            <ConfirmDestructive
              action={resetSecondStepAction.bind(null, user.id)}
              trigger="Reset the second step"
              title={`Take the second step of signing in away from ${user.username}?`}
              confirm={`Reset the second step of ${user.username}`}
            >
              For somebody who has lost it: their passkeys, authenticator app and recovery codes go, and the password alone signs
              in. Be sure who asks you. They are written to; nothing else ends.
            </ConfirmDestructive>
          )}
        </div>
      </SectionCard>
      <SectionCard title="Shut out" isDanger>
        <div className="grid grid-cols-1 gap-5">
          {user.disabledAt ? <Enable user={user} /> : <Disable user={user} />}
          <ConfirmDestructive
            action={deleteAction.bind(null, user.id)}
            trigger="Delete the account"
            title={`Delete ${user.username} for good?`}
            confirm={`Delete ${user.username}`}
            phrase={user.username}
          >
            Their repositories, collections, apps and tokens go with it; what they said elsewhere stays without their name. Nobody
            can take the name again. This cannot be undone: to shut somebody out for a while, disable the account.
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
        trigger="Take operation away"
        title={`Take operation of the service from ${username}?`}
        confirm={`Make ${username} no operator any more`}
      >
        They no longer see these pages, at once.
      </ConfirmDestructive>
    );
  }
  return (
    <ConfirmDestructive
      action={setOperatorAction.bind(null, id, true)}
      trigger="Make an operator"
      title={`Make ${username} an operator of the service?`}
      confirm={`Make ${username} an operator`}
    >
      Operators can do all that these pages offer: see every account, delete any, and make others operators.
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
      All sessions and tokens end at once, those of apps too, and their public repositories are not shown. Name, memberships and
      apps stay for the day that you enable the account again.
    </ConfirmDestructive>
  );
}

function Enable({ user: { id, username } }: PartProps) {
  return (
    <ActionForm action={enableAction.bind(null, id)} label={`Enable ${username}`} className="grid gap-2">
      <p className="text-muted text-small">
        The account is disabled. Enabled again, its person signs in anew, and apps ask anew.
      </p>
      <div>
        <SubmitButton variant="secondary">Enable {username}</SubmitButton>
      </div>
    </ActionForm>
  );
}
