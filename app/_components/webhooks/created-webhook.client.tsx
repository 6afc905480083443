"use client";

import { type ReactNode, useState } from "react";
import { failureOf, useFormState } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { buttonClass } from "../button-class.ts";
import { SecretOnce } from "../copyable.tsx";
import { Card, FormMessage } from "../page-layout.tsx";

type CreatedWebhookProps = Readonly<{
  title?: string;
  sendTest: (data: FormData) => Promise<void>;
  children: ReactNode;
}>;

export function CreatedWebhook({ title = "Webhook created", sendTest, children }: CreatedWebhookProps) {
  const { secret, values } = useFormState();
  const [failure, setFailure] = useState<string>();
  // A failed request must not replace the page, because the secret is shown only once.
  const keepSecret = (data: FormData) => sendTest(data).catch((error) => setFailure(failureOf(error)));
  if (!secret) return children;
  return (
    <Card className="p-5">
      <div className="grid max-w-reading gap-5">
        <div>
          <h2>{title}</h2>
          <p className="mt-1 break-all text-muted text-small">{text(values.target)}</p>
        </div>
        <SecretOnce label={secret.label} value={secret.value}>
          {values.isJob
            ? "Each job gets it in the environment variable WEBHOOK_SECRET."
            : "Your server uses it to verify the signature of each delivery."}
        </SecretOnce>
        {failure && <FormMessage tone="bad">{failure}</FormMessage>}
        <input type="hidden" name="webhookId" value={text(values.webhookId)} />
        <div className="flex flex-wrap gap-3">
          <button
            type="submit"
            formAction={typeof window === "undefined" ? sendTest : keepSecret}
            className={buttonClass({ variant: "primary" })}
          >
            Send a test
          </button>
          <ButtonLink href={text(values.page)}>View webhook</ButtonLink>
        </div>
        <p className="text-muted text-small">A test sends a sample event immediately and shows the result.</p>
      </div>
    </Card>
  );
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}
