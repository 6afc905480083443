"use client";

import { ActionForm, useFormState } from "../action-form.client.tsx";
import { buttonClass } from "../button.tsx";
import type { FormAction } from "../form-state.ts";
import { SecretOnce } from "../secret-once.tsx";
import { Select } from "../select.client.tsx";
import { SubmitButton } from "../submit-button.client.tsx";

const HOUR = 3600;
const overlaps = [
  { value: "0", label: "no longer" },
  { value: String(HOUR), label: "for another hour" },
  { value: String(24 * HOUR), label: "for another day" },
  { value: String(7 * 24 * HOUR), label: "for another 7 days" },
];

export type SecretFormProps = Readonly<{ action: FormAction; hasSecret: boolean }>;

/**
 * Makes the first secret of an app or the next one. One form for both, so that the new secret stays on the page when the app
 * turns from public to confidential around it.
 */
export function SecretForm({ action, hasSecret }: SecretFormProps) {
  return (
    <ActionForm action={action} className="grid max-w-reading gap-4" label="Client secret">
      <NewSecret />
      {hasSecret ? (
        <Rotation />
      ) : (
        <div>
          <SubmitButton variant="secondary">Add a secret</SubmitButton>
        </div>
      )}
    </ActionForm>
  );
}

function NewSecret() {
  const { secret } = useFormState();
  return (
    secret && (
      <SecretOnce label={secret.label} value={secret.value}>
        Keep it where only your server can read it.
      </SecretOnce>
    )
  );
}

function Rotation() {
  const { secret, message } = useFormState();
  return (
    // A new secret closes the question that it answers.
    <details key={secret?.value} open={message?.tone === "bad"} className="group">
      <summary className={buttonClass({})}>
        <span className="group-open:hidden">Rotate secret</span>
        <span className="hidden group-open:inline">Keep this one</span>
      </summary>
      <div className="mt-3 grid gap-4 rounded-control border border-line p-4">
        <Select
          name="overlapSeconds"
          label="The old secret works"
          options={overlaps}
          hint="Give a running site the time to take the new one. After a leak, end the old one now."
        />
        <div>
          <SubmitButton variant="secondary">Make a new secret</SubmitButton>
        </div>
      </div>
    </details>
  );
}
