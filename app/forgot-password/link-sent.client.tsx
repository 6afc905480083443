"use client";

import { useFormState } from "../_components/action-form.client.tsx";
import { FormMessage } from "../_components/form-message.tsx";

/** The same for every address, so that nobody learns which ones have an account (S115). */
export function LinkSent() {
  const { email } = useFormState().values;
  return (
    <FormMessage tone="good">
      If <strong>{email}</strong> has an account, a link is on its way there. It works once, for one hour.
    </FormMessage>
  );
}
