"use client";

import { useFormState } from "../../_components/action-form.client.tsx";
import { SecretOnce } from "../../_components/copyable.tsx";

export function NewToken() {
  const { secret } = useFormState();
  return (
    secret && (
      <SecretOnce label={secret.label} value={secret.value}>
        Store it where only the platform can read it.
      </SecretOnce>
    )
  );
}
