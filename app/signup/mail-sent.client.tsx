"use client";

import { ActionForm, useFormState } from "../_components/action-form.client.tsx";
import { FormMessage } from "../_components/form-message.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { resendSignUpMailAction } from "./actions.ts";

/** After sign-up. It says the same whether or not the address has an account already (S115). */
export function MailSent() {
  const { email } = useFormState().values;
  return (
    <div className="grid gap-5">
      <FormMessage tone="good">
        We have written to <strong>{email}</strong>. Open the link in that mail to finish; it works for 24 hours.
      </FormMessage>
      <p className="text-muted text-small">
        Nothing there? Look among the unwanted mail, and at the spelling of the address above.
      </p>
      <ActionForm action={resendSignUpMailAction}>
        <input type="hidden" name="email" value={email} />
        <SubmitButton variant="secondary" isWide>
          Send the link again
        </SubmitButton>
      </ActionForm>
    </div>
  );
}
