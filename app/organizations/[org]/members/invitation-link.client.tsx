"use client";

import { useFormState } from "../../../_components/action-form.client.tsx";
import { CopyField } from "../../../_components/copyable.tsx";

export function InvitationLink() {
  const { secret } = useFormState();
  return secret && <CopyField label={secret.label} value={secret.value} />;
}
