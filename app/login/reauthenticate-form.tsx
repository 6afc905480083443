import Link from "next/link";
import { findSecondStepOffer } from "#core/accounts/second-step/find-second-step-offer.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/relying-party.ts";
import { AccountLine } from "../_components/account-line.tsx";
import { ActionForm } from "../_components/action-form.client.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { PasskeyButton } from "../_components/passkey-button.client.tsx";
import { PasswordField } from "../_components/password-field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import type { SiteSession } from "../_server/session.ts";
import {
  askForPasskeyToReauthenticateAction,
  reauthenticateAction,
  reauthenticateWithoutPasswordAction,
  reauthenticateWithPasskeyAction,
} from "./actions.ts";
import { ConfirmElsewhere } from "./confirm-elsewhere.tsx";

type ReauthenticateFormProps = Readonly<{ user: SiteSession["user"]; next: string }>;

/**
 * Asks the person who is signed in to prove it once more: with a passkey, or with the password and then the second step where there
 * is one. Somebody who has no password goes to the second step at once, or to the provider that signs them in.
 */
export async function ReauthenticateForm({ user, next }: ReauthenticateFormProps) {
  const { hasPassword, hasPasskeys, hasAuthenticator } = await findSecondStepOffer(user.id);
  const isPasskeyOffered = hasPasskeys && arePasskeysAvailable();
  return (
    <CardFrame>
      <div className="pb-5">
        <CardHeader title="Confirm that it is you">What comes next is sensitive, so we ask you again who you are.</CardHeader>
      </div>
      <AccountLine
        user={user}
        action={
          <Link prefetch={false} className="link" href={`/login?${new URLSearchParams({ switch: "1", next })}`}>
            Switch account
          </Link>
        }
      />
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {isPasskeyOffered && <PasskeyProof next={next} />}
        {hasPassword && <PasswordProof user={user} next={next} isPrimary={!isPasskeyOffered} />}
        {!hasPassword && (hasPasskeys || hasAuthenticator) && <SecondStepProof next={next} isPrimary={!isPasskeyOffered} />}
        {!hasPassword && !hasPasskeys && !hasAuthenticator && <ConfirmElsewhere userId={user.id} next={next} />}
      </div>
    </CardFrame>
  );
}

function PasskeyProof({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={reauthenticateWithPasskeyAction} label="Passkey">
      <input type="hidden" name="next" value={next} />
      <PasskeyButton ask={askForPasskeyToReauthenticateAction} variant="primary" isWide>
        Use a passkey
      </PasskeyButton>
    </ActionForm>
  );
}

function PasswordProof({ user, next, isPrimary }: ReauthenticateFormProps & Readonly<{ isPrimary: boolean }>) {
  return (
    <ActionForm action={reauthenticateAction} label="Your password">
      <input type="hidden" name="next" value={next} />
      {/* Lets password managers know whose password is asked for. */}
      <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
      <PasswordField
        name="password"
        label="Password"
        autoComplete="current-password"
        aside={
          <Link prefetch={false} className="link" href="/forgot-password">
            Forgot it?
          </Link>
        }
      />
      <SubmitButton isWide variant={isPrimary ? "primary" : "secondary"}>
        Confirm
      </SubmitButton>
    </ActionForm>
  );
}

function SecondStepProof({ next, isPrimary }: Readonly<{ next: string; isPrimary: boolean }>) {
  return (
    <ActionForm action={reauthenticateWithoutPasswordAction} label="Second step">
      <input type="hidden" name="next" value={next} />
      <SubmitButton isWide variant={isPrimary ? "primary" : "secondary"}>
        Confirm with your second step
      </SubmitButton>
    </ActionForm>
  );
}
