import { ActionForm } from "../../_components/action-form.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { FormDetails } from "../../_components/form-details.client.tsx";
import { PasskeyButton } from "../../_components/passkey-button.client.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import {
  askForPasskeyAsSecondStepAction,
  finishWithCodeAction,
  finishWithPasskeyAction,
  finishWithRecoveryCodeAction,
} from "./actions.ts";

export function PasskeyForm({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={finishWithPasskeyAction} label="Passkey">
      <input type="hidden" name="next" value={next} />
      <PasskeyButton ask={askForPasskeyAsSecondStepAction} variant="primary" isWide>
        Use a passkey
      </PasskeyButton>
      <p className="hidden text-muted text-small noscript:block">Passkeys need JavaScript. Use one of the other ways.</p>
    </ActionForm>
  );
}

/** @param isPrimary whether it is the first thing to do here: one button of a page calls out */
export function CodeForm({ next, isPrimary }: Readonly<{ next: string; isPrimary: boolean }>) {
  return (
    <ActionForm action={finishWithCodeAction} label="Authenticator app">
      <input type="hidden" name="next" value={next} />
      <Field
        name="code"
        label="Code from your authenticator app"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={12}
        autoFocus={isPrimary}
        isMono
      />
      <SubmitButton isWide variant={isPrimary ? "primary" : "secondary"}>
        Confirm
      </SubmitButton>
    </ActionForm>
  );
}

/** Folded away while there is another way, since each code works once; open again with whatever it was answered. */
export function RecoveryCodeForm({ next, isOnlyWay }: Readonly<{ next: string; isOnlyWay: boolean }>) {
  const form = { action: finishWithRecoveryCodeAction, label: "Recovery code" };
  const content = (
    <>
      <input type="hidden" name="next" value={next} />
      <Field
        name="recoveryCode"
        label="Recovery code"
        hint="One of the ten that you were shown. It works once."
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={40}
        isMono
      />
      <SubmitButton isWide variant="secondary">
        Use this code
      </SubmitButton>
    </>
  );
  if (isOnlyWay) return <ActionForm {...form}>{content}</ActionForm>;
  return (
    <FormDetails {...form} trigger="Use a recovery code" keep="Use no recovery code" look={{ variant: "quiet", size: "small" }}>
      {content}
    </FormDetails>
  );
}
