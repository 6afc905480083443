"use client";

import { useFormState } from "../../../_components/action-form.client.tsx";
import { CopyField } from "../../../_components/copyable.tsx";

/** The link of an invitation that was just created, where no mail carries it. */
export function InvitationLink() {
  const { secret } = useFormState();
  return secret && <CopyField label={secret.label} value={secret.value} />;
}
