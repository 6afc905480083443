"use client";

import { ActionForm, SubmitButton, useFormState } from "../action-form.client.tsx";
import { SecretOnce } from "../copyable.tsx";
import { CancelButton, Disclosure } from "../disclosure.client.tsx";
import { Select } from "../fields.client.tsx";
import type { FormAction } from "../form-state.ts";

const HOUR = 3600;
const overlaps = [
  { value: "0", label: "immediately" },
  { value: String(HOUR), label: "in 1 hour" },
  { value: String(24 * HOUR), label: "in 1 day" },
  { value: String(7 * 24 * HOUR), label: "in 7 days" },
];

type SecretFormProps = Readonly<{ action: FormAction; hasSecret: boolean }>;

/** One form for the first and for later secrets, so that the secret stays visible when the app becomes confidential. */
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
        Store it where only your server can read it.
      </SecretOnce>
    )
  );
}

function Rotation() {
  const { secret, message } = useFormState();
  return (
    // A new secret closes the confirmation.
    <Disclosure key={secret?.value} trigger="Rotate secret" isOpen={message?.tone === "bad"}>
      <div className="mt-3 grid gap-4 rounded-control border border-line p-4">
        <Select
          name="overlapSeconds"
          label="Old secret expires"
          options={overlaps}
          hint="Give a running site enough time to switch to the new secret. After a leak, choose “immediately”."
        />
        <div className="flex flex-wrap gap-2">
          <SubmitButton>Create new secret</SubmitButton>
          <CancelButton />
        </div>
      </div>
    </Disclosure>
  );
}
