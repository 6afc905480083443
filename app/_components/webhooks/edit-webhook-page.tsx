import type { Metadata } from "next";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { jobListPath, webhookListPath, webhookPath } from "../../_server/paths.ts";
import { sendFirstTestAction, updateWebhookAction } from "../../_server/webhooks/actions.ts";
import { findWebhookPage } from "../../_server/webhooks/find-webhook-page.ts";
import { ActionForm } from "../action-form.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import { MadeWith } from "../made-with.tsx";
import { FormMessage, PageHeader } from "../page-layout.tsx";
import { CreatedWebhook } from "./created-webhook.client.tsx";
import { jobChoices } from "./job-choices.ts";
import { WebhookFields } from "./webhook-fields.tsx";
import { webhookName } from "./webhook-list.tsx";

export const metadata: Metadata = { title: "Webhook settings" };

export async function EditWebhookPage({ params }: OwnerPageProps<{ webhookId: string }>) {
  const { org = null, webhookId } = await params;
  const { person, owner, home, webhook } = await findWebhookPage(org, webhookId);
  const path = webhookListPath(home);
  const page = webhookPath(home, webhook.id);
  return (
    <>
      <PageHeader
        trail={[
          { href: path, label: "Webhooks" },
          { href: page, label: <span className="break-all">{webhookName(webhook)}</span> },
        ]}
        title="Webhook settings"
        description="Waiting deliveries use the new target and secret."
      />
      {webhook.madeWith && (
        <FormMessage tone="warn" className="mb-5">
          <MadeWith madeWith={webhook.madeWith} verb="This webhook was created or last changed" />. Check{" "}
          {webhook.job ? "what the webhook runs" : "where the webhook sends events"} before you save: it then acts with your own
          permissions, which may be wider.
        </FormMessage>
      )}
      <ActionForm
        action={updateWebhookAction.bind(null, home, webhook.id)}
        values={{ name: webhook.name ?? "", url: webhook.url ?? "" }}
        label="Webhook settings"
      >
        <CreatedWebhook title="Webhook saved" sendTest={sendFirstTestAction.bind(null, home)}>
          <WebhookFields
            webhook={webhook}
            isForOrganization={home !== null}
            jobs={await jobChoices(person, owner)}
            jobsPath={jobListPath(home)}
            searchPath={`${path}/watchable`}
          />
          <FormButtons cancelHref={page}>Save</FormButtons>
        </CreatedWebhook>
      </ActionForm>
    </>
  );
}
