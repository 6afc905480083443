import Link from "next/link";
import { listLinkedIdentities } from "#core/accounts/identity-providers/linked-identities.ts";
import { findSecondStepOffer } from "#core/accounts/second-step/pending-second-step.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/verify-passkey.ts";
import { AccountLine } from "../_components/account-line.tsx";
import { ActionForm, SubmitButton } from "../_components/action-form.client.tsx";
import { buttonClass } from "../_components/button.tsx";
import { CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { PasswordField } from "../_components/fields.client.tsx";
import { PasskeyButton } from "../_components/passkey-button.client.tsx";
import { providerSignInPath } from "../_server/provider-sign-in.ts";
import type { SiteSession } from "../_server/session.ts";
import {
  askForPasskeyToReauthenticateAction,
  reauthenticateAction,
  reauthenticateWithoutPasswordAction,
  reauthenticateWithPasskeyAction,
} from "../_server/sign-in-actions.ts";

type ReauthenticateFormProps = Readonly<{ user: SiteSession["user"]; next: string }>;

/** A user without a password goes directly to the second step, or to an identity provider. */
export async function ReauthenticateForm({ user, next }: ReauthenticateFormProps) {
  const { hasPassword, hasPasskeys, hasAuthenticator } = await findSecondStepOffer(user.id);
  const isPasskeyOffered = hasPasskeys && arePasskeysAvailable();
  return (
    <CardFrame>
      <div className="pb-5">
        <CardHeader title="Confirm your identity">The next step is sensitive, so please confirm your identity.</CardHeader>
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
        {!hasPassword && !hasPasskeys && !hasAuthenticator && <ConfirmAtProvider userId={user.id} next={next} />}
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
      {/* Tells password managers whose password is requested. */}
      <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
      <PasswordField
        name="password"
        label="Password"
        autoComplete="current-password"
        aside={
          <Link prefetch={false} className="link" href="/forgot-password">
            Forgot password?
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

/** For a user without a password, a passkey or an authenticator app, only an identity provider is left (S113). */
async function ConfirmAtProvider({ userId, next }: Readonly<{ userId: string; next: string }>) {
  const identities = await listLinkedIdentities(userId);
  const providers = new Map(
    identities.flatMap(({ provider }) => (provider.organization || provider.isDisabled ? [] : [[provider.slug, provider.name]])),
  );
  return (
    <div className="grid gap-4">
      {providers.size > 0 && (
        <ul className="grid gap-2.5" aria-label="Sign-in provider">
          {[...providers].map(([slug, name], index) => (
            <li key={slug}>
              <a
                className={buttonClass({ isWide: true, variant: index === 0 ? "primary" : "secondary" }, "min-w-0")}
                href={providerSignInPath(slug as string, { next, intent: "reauthenticate" })}
              >
                <span className="min-w-0 truncate">Confirm with {name}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <p className="text-muted text-small">
        Your account has no password.{" "}
        <a className="link" href="/forgot-password">
          Request a link to set one
        </a>
        {providers.size > 0 ? " if none of these works." : ", then sign in again."}
      </p>
    </div>
  );
}
