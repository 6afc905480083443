import { sendFirstTestAction, updateWebhookAction } from "../../_server/webhooks/actions.ts";
import type { WebhookPage } from "../../_server/webhooks/find-webhook-page.ts";
import { jobsPath, webhookListPath, webhookPath } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { FormMessage } from "../form-message.tsx";
import { MadeWith } from "../made-with.tsx";
import { PageHeader } from "../page-header.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { jobChoices } from "./job-choices.ts";
import { MadeWebhook } from "./made-webhook.client.tsx";
import { targetName } from "./target-name.ts";
import { WebhookFields } from "./webhook-fields.tsx";

export type EditWebhookPageProps = Readonly<{ page: WebhookPage }>;

/** Everything about a webhook that can be changed. */
export async function EditWebhookPage({ page: { person, owner, home, webhook } }: EditWebhookPageProps) {
  const path = webhookListPath(home);
  const page = webhookPath(home, webhook.id);
  return (
    <>
      <PageHeader
        trail={[
          { href: path, label: "Webhooks" },
          { href: page, label: <span className="break-all">{targetName(webhook)}</span> },
        ]}
        title="Edit webhook"
        description="What waits to be sent goes where the webhook points then, with the secret that it has then."
      />
      {webhook.madeWith && (
        <FormMessage tone="warn" className="mb-4">
          <MadeWith madeWith={webhook.madeWith} verb="This webhook was created or last changed" />. Check where it sends events
          before you save: it then acts with your own rights, which may reach further.
        </FormMessage>
      )}
      <ActionForm
        action={updateWebhookAction.bind(null, home, webhook.id)}
        values={{ url: webhook.url ?? "" }}
        label="Edit webhook"
      >
        <MadeWebhook title="The webhook is saved" sendTest={sendFirstTestAction.bind(null, home)}>
          <WebhookFields
            webhook={webhook}
            jobs={await jobChoices(person, owner)}
            jobsPath={jobsPath(home)}
            searchPath={`${path}/watchable`}
          />
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Save</SubmitButton>
            <ButtonLink href={page}>Cancel</ButtonLink>
          </div>
        </MadeWebhook>
      </ActionForm>
    </>
  );
}
