"use client";

import type { ReactNode } from "react";
import { useFormState } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { SecretOnce } from "../../../_components/copyable.tsx";
import { Card } from "../../../_components/page-layout.tsx";

export function CreatedToken({ children }: Readonly<{ children: ReactNode }>) {
  const { secret } = useFormState();
  if (!secret) return children;
  return (
    <Card className="p-5">
      <div className="grid max-w-reading gap-5">
        <SecretOnce label={secret.label} value={secret.value}>
          Use it as the password for git, or as <code>Authorization: Bearer</code> for the API.
        </SecretOnce>
        <div>
          <ButtonLink variant="primary" href="/settings/tokens">
            Done
          </ButtonLink>
        </div>
      </div>
    </Card>
  );
}
