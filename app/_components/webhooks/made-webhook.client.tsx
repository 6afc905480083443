"use client";

import type { ReactNode } from "react";
import { useFormState } from "../action-form.client.tsx";
import { ButtonLink, buttonClass } from "../button.tsx";
import { Card } from "../card.tsx";
import { SecretOnce } from "../secret-once.tsx";

export type MadeWebhookProps = Readonly<{
  title?: string;
  /** Sends a test to the webhook that the form names in `webhookId`, and goes to its page. */
  sendTest: (data: FormData) => Promise<void>;
  children: ReactNode;
}>;

/** The fields of the form, until the webhook is made and its secret takes their place. */
export function MadeWebhook({ title = "The webhook is ready", sendTest, children }: MadeWebhookProps) {
  const { secret, values } = useFormState();
  if (!secret) return children;
  return (
    <Card className="grid max-w-reading gap-5 p-5">
      <div>
        <h2>{title}</h2>
        <p className="mt-1 break-all text-muted text-small">{text(values.target)}</p>
      </div>
      <SecretOnce label={secret.label} value={secret.value}>
        Give it to what receives the deliveries, which checks each signature with it.
      </SecretOnce>
      <input type="hidden" name="webhookId" value={text(values.webhookId)} />
      <div className="flex flex-wrap gap-3">
        <button type="submit" formAction={sendTest} className={buttonClass({ variant: "primary" })}>
          Send a test
        </button>
        <ButtonLink href={text(values.page)}>Go to the webhook</ButtonLink>
      </div>
      <p className="text-muted text-small">A test is a made-up event, sent at once. You see how it was answered.</p>
    </Card>
  );
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}
