import { Fingerprint } from "lucide-react";
import type { ListedPasskey, RequiringOrganization } from "#core/accounts/second-step/find-second-step.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../_components/disclosure.client.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { SectionCard } from "../../_components/page-layout.tsx";
import { PasskeyButton } from "../../_components/passkey-button.client.tsx";
import { LastUsed, RelativeTime } from "../../_components/relative-time.tsx";
import {
  askForNewPasskeyAction,
  registerPasskeyAction,
  removeAuthenticatorAction,
  removePasskeyAction,
  renamePasskeyAction,
  startAuthenticatorAction,
} from "./actions.ts";

type AuthenticatorSectionProps = Readonly<{
  since: Date | null;
  isRecent: boolean;
  closing: readonly RequiringOrganization[];
}>;

export function AuthenticatorSection({ since, isRecent, closing }: AuthenticatorSectionProps) {
  return (
    <SectionCard
      title="Authenticator app"
      description="An app on your phone shows a six-digit code that changes every 30 seconds. You enter it as your second step."
      action={since && <Chip tone="good">On</Chip>}
    >
      <div className="grid gap-4">
        <p className="text-muted">
          {since ? (
            <>
              Set up <RelativeTime at={since} />.
            </>
          ) : (
            "Not set up."
          )}
        </p>
        {isRecent && (
          <ActionButton action={startAuthenticatorAction} size="medium">
            {since ? "Move to another app" : "Set up an authenticator app"}
          </ActionButton>
        )}
        {isRecent && since && (
          <ConfirmDestructive
            action={removeAuthenticatorAction}
            trigger="Remove the app"
            title="Remove your authenticator app?"
            confirm="Remove the authenticator app"
            size="small"
          >
            Its codes will no longer work.
            <ClosingWarning closing={closing} />
          </ConfirmDestructive>
        )}
      </div>
    </SectionCard>
  );
}

type PasskeysSectionProps = Readonly<{
  passkeys: readonly ListedPasskey[];
  isRecent: boolean;
  isAvailable: boolean;
  closing: readonly RequiringOrganization[];
}>;

export function PasskeysSection({ passkeys, isRecent, isAvailable, closing }: PasskeysSectionProps) {
  return (
    <SectionCard
      title="Passkeys"
      description="Sign in with your fingerprint, face, PIN or security key instead of a password. Passkeys cannot be phished or guessed."
      isFlush
    >
      {passkeys.length === 0 && (
        <p className="px-4 pt-5 text-muted sm:px-5">
          {isAvailable ? "Not set up." : "Passkeys require a domain name and https, which this service does not have."}
        </p>
      )}
      {passkeys.length > 0 && (
        <List label="Passkeys">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} isRecent={isRecent} closing={closing} />
          ))}
        </List>
      )}
      {isAvailable && isRecent && (
        <div className="px-4 py-5 sm:px-5">
          <ActionForm action={registerPasskeyAction} label="New passkey">
            <PasskeyButton ask={askForNewPasskeyAction} variant={passkeys.length === 0 ? "primary" : "secondary"}>
              Add a passkey
            </PasskeyButton>
            <p className="hidden text-muted text-small noscript:block">Adding a passkey requires JavaScript.</p>
          </ActionForm>
        </div>
      )}
      {!(isAvailable && isRecent) && passkeys.length === 0 && <div className="pb-5" />}
    </SectionCard>
  );
}

type PasskeyRowProps = Readonly<{ passkey: ListedPasskey; isRecent: boolean; closing: readonly RequiringOrganization[] }>;

function PasskeyRow({ passkey, isRecent, closing }: PasskeyRowProps) {
  const { id, name, isBackedUp, createdAt, lastUsedAt } = passkey;
  return (
    <ListRow
      leading={<Fingerprint className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          {name}
          {isBackedUp && <Chip>Backed up</Chip>}
        </>
      }
      meta={
        <>
          <LastUsed at={lastUsedAt} /> · added <RelativeTime at={createdAt} />
        </>
      }
    >
      {isRecent && (
        <div className="mt-2 grid gap-2">
          <Disclosure
            look={{ size: "small" }}
            trigger={
              <>
                Rename<span className="sr-only"> {name}</span>
              </>
            }
          >
            <ActionForm action={renamePasskeyAction.bind(null, id)} values={{ name }} className="mt-3 grid max-w-reading gap-3">
              <Field name="name" label="Name" maxLength={60} autoComplete="off" />
              <div className="flex gap-2">
                <SubmitButton size="small">Save</SubmitButton>
                <CancelButton size="small" />
              </div>
            </ActionForm>
          </Disclosure>
          <ConfirmDestructive
            action={removePasskeyAction.bind(null, id)}
            trigger="Remove"
            title={`Remove the passkey ${name}?`}
            confirm={`Remove ${name}`}
            size="small"
          >
            It will no longer work. Your device may still offer it until you delete it there too.
            <ClosingWarning closing={closing} />
          </ConfirmDestructive>
        </div>
      )}
    </ListRow>
  );
}

function ClosingWarning({ closing }: Readonly<{ closing: readonly RequiringOrganization[] }>) {
  if (closing.length === 0) return null;
  const names = new Intl.ListFormat("en").format(closing.map(({ fullName, name }) => fullName || name));
  return (
    <>
      {closing.map(({ id }) => (
        <input key={id} type="hidden" name="closes" value={id} />
      ))}
      <p className="mt-2 font-medium text-bad">
        This is your only second step. {names} {closing.length === 1 ? "requires" : "require"} one: you lose access there until
        you set one up again.
      </p>
    </>
  );
}
