import { Fingerprint } from "lucide-react";
import type { ListedPasskey } from "#core/accounts/second-step/find-second-step.ts";
import type { AskingOrganization } from "#core/accounts/second-step/organizations-asking.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PasskeyButton } from "../../_components/passkey-button.client.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { askToMakePasskeyAction, registerPasskeyAction, removePasskeyAction, renamePasskeyAction } from "./actions.ts";
import { ClosingWarning } from "./closing-warning.tsx";

export type PasskeysSectionProps = Readonly<{
  passkeys: readonly ListedPasskey[];
  isRecent: boolean;
  isAvailable: boolean;
  closing: readonly AskingOrganization[];
}>;

export function PasskeysSection({ passkeys, isRecent, isAvailable, closing }: PasskeysSectionProps) {
  return (
    <SectionCard
      title="Passkeys"
      description="Your finger, your face, a PIN or a security key in place of a password. It cannot be phished or guessed."
      isFlush
    >
      {passkeys.length === 0 && (
        <p className="px-4 pt-5 text-muted sm:px-5">
          {isAvailable
            ? "You have none yet."
            : "This service has no name and https of its own, which browsers ask for before they keep a passkey."}
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
            <PasskeyButton ask={askToMakePasskeyAction} variant={passkeys.length === 0 ? "primary" : "secondary"}>
              Add a passkey
            </PasskeyButton>
            <p className="hidden text-muted text-small noscript:block">Adding a passkey needs JavaScript.</p>
          </ActionForm>
        </div>
      )}
      {!(isAvailable && isRecent) && passkeys.length === 0 && <div className="pb-5" />}
    </SectionCard>
  );
}

type PasskeyRowProps = Readonly<{ passkey: ListedPasskey; isRecent: boolean; closing: readonly AskingOrganization[] }>;

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
          {lastUsedAt ? (
            <>
              last used <RelativeTime at={lastUsedAt} />
            </>
          ) : (
            "not used yet"
          )}{" "}
          · added <RelativeTime at={createdAt} />
        </>
      }
    >
      {isRecent && (
        <div className="mt-2 grid gap-2">
          <details>
            <summary className="link w-fit cursor-pointer text-small">
              Rename<span className="sr-only"> {name}</span>
            </summary>
            <ActionForm action={renamePasskeyAction.bind(null, id)} values={{ name }} className="mt-3 grid max-w-reading gap-3">
              <Field name="name" label="Name" maxLength={60} autoComplete="off" />
              <div>
                <SubmitButton variant="secondary" size="small">
                  Save
                </SubmitButton>
              </div>
            </ActionForm>
          </details>
          <ConfirmDestructive
            action={removePasskeyAction.bind(null, id)}
            trigger="Remove"
            title={`Remove the passkey ${name}?`}
            confirm={`Remove ${name}`}
            size="small"
          >
            It no longer signs you in. Your device may go on offering it until you delete it there too.
            <ClosingWarning closing={closing} />
          </ConfirmDestructive>
        </div>
      )}
    </ListRow>
  );
}
