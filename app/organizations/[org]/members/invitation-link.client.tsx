"use client";

import { useFormState } from "../../../_components/action-form.client.tsx";
import { CopyField } from "../../../_components/copyable.tsx";

/** The link of an invitation that was just created, for a server that does not send email. */
export function InvitationLink() {
  const { secret } = useFormState();
  return secret && <CopyField label={secret.label} value={secret.value} />;
}
