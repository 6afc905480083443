import { domainOf, type EventScope, testKinds } from "@keyhook/sdk";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import { sendTestAction } from "../../_server/webhooks/actions.ts";
import type { WebhookHome } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { FormDetails } from "../form-details.client.tsx";
import { Select } from "../select.client.tsx";
import { SubmitButton } from "../submit-button.client.tsx";

export type SendTestFormProps = Readonly<{ webhook: Webhook; home: WebhookHome }>;

/** A made-up event of the reader's choice, sent at once. */
export function SendTestForm({ webhook, home }: SendTestFormProps) {
  const heard = testKinds.filter((kind) => webhook.domains.includes(domainOf(scopeOf(kind))));
  const usual = heard.find((kind) => kind === "repo.content.update") ?? "discussion.comment.create";
  return (
    <FormDetails
      action={sendTestAction.bind(null, home, webhook.id)}
      trigger="Send a test"
      keep="Send no test"
      look={{ size: "small" }}
      label="Send a test"
    >
      <div className="grid gap-3 rounded-control border border-line bg-surface p-4">
        <Select
          name="kind"
          label="Event"
          hint="Made up, in the words of a real one, and marked with X-Webhook-Test. It counts towards no limit."
          options={[...heard, ...testKinds.filter((kind) => !heard.includes(kind))].map((kind) => ({
            value: kind,
            label: heard.includes(kind) ? kind : `${kind} (not in its domains)`,
          }))}
          defaultValue={usual}
        />
        <div>
          <SubmitButton size="small">Send it</SubmitButton>
        </div>
      </div>
    </FormDetails>
  );
}

/** The same in one press, where nothing was sent yet. */
export function FirstTestForm({ webhook, home }: SendTestFormProps) {
  return (
    <ActionForm
      action={sendTestAction.bind(null, home, webhook.id)}
      label="Send a first test"
      className="grid justify-items-center gap-3"
    >
      <SubmitButton>Send a test</SubmitButton>
    </ActionForm>
  );
}

const scopeOf = (kind: string): EventScope => kind.slice(0, kind.lastIndexOf(".")) as EventScope;
