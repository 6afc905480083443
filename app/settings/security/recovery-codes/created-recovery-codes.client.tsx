"use client";

import type { ReactNode } from "react";
import { useFormState } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { CopyButton } from "../../../_components/copy-button.client.tsx";
import { Card, FormMessage } from "../../../_components/page-layout.tsx";

type CreatedRecoveryCodesProps = Readonly<{ securityPage: string; children: ReactNode }>;

export function CreatedRecoveryCodes({ securityPage, children }: CreatedRecoveryCodesProps) {
  const { secret } = useFormState();
  if (!secret) return children;
  return (
    <Card className="p-5">
      <div className="grid max-w-reading gap-5">
        <FormMessage tone="warn">
          Write them down, print this page or store them in a password manager. They are shown only once.
        </FormMessage>
        <div className="flex items-start rounded-control border border-line bg-sunken p-3">
          <ul aria-label={secret.label} className="grid flex-1 gap-x-6 gap-y-1 font-mono sm:grid-cols-2">
            {secret.value.split("\n").map((code) => (
              <li key={code}>
                <code className="select-all">{code}</code>
              </li>
            ))}
          </ul>
          <CopyButton value={secret.value} label={secret.label} />
        </div>
        <div>
          <ButtonLink variant="primary" href={securityPage}>
            I have saved them
          </ButtonLink>
        </div>
      </div>
    </Card>
  );
}
