"use client";

import type { ReactNode } from "react";
import { useFormState } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { CopyField, SecretOnce } from "../copyable.tsx";
import { Card } from "../page-layout.tsx";

export function CreatedApp({ children }: Readonly<{ children: ReactNode }>) {
  const { secret, values } = useFormState();
  if (!secret) return children;
  return (
    <Card className="px-4 py-5 sm:px-5">
      <div className="grid max-w-reading gap-5">
        <h2>{text(values.name)} is ready</h2>
        <CopyField label="Client ID" value={text(values.clientId)} />
        <SecretOnce label={secret.label} value={secret.value}>
          Store it where only your server can read it.
        </SecretOnce>
        <div>
          <ButtonLink variant="primary" href={text(values.page)}>
            Go to the app
          </ButtonLink>
        </div>
      </div>
    </Card>
  );
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}
