import { replayFailedAction } from "../../../_server/webhooks/actions.ts";
import type { WebhookHome } from "../../../_server/webhooks/webhook-paths.ts";
import { Field } from "../../field.client.tsx";
import { FormDetails } from "../../form-details.client.tsx";
import { Select } from "../../select.client.tsx";
import { SubmitButton } from "../../submit-button.client.tsx";

export type ReplayFailedFormProps = Readonly<{ home: WebhookHome; webhookId: string }>;

/** Sends again all that has failed since a time, which the worker does by itself. */
export function ReplayFailedForm({ home, webhookId }: ReplayFailedFormProps) {
  return (
    <FormDetails
      action={replayFailedAction.bind(null, home, webhookId)}
      trigger="Replay failed"
      keep="Replay nothing"
      look={{ size: "small" }}
      label="Replay all that failed"
    >
      <div className="group/since grid gap-3 rounded-control border border-line bg-surface p-4">
        <Select
          name="ago"
          label="All that failed in"
          options={[
            { value: "1", label: "the last hour" },
            { value: "24", label: "the last 24 hours" },
            { value: "168", label: "the last 7 days" },
            { value: "720", label: "the last 30 days" },
            { value: "since", label: "the time since …" },
          ]}
          defaultValue="24"
        />
        <div className="hidden group-has-[option[value=since]:checked]/since:block">
          <Field name="since" label="Since (UTC)" placeholder="2026-11-22 10:00" autoComplete="off" isOptional isMono />
        </div>
        <p className="text-muted text-small">
          Each goes with the bytes and the id that it had, to where the webhook points now. You can leave the page meanwhile, and
          cancel it.
        </p>
        <div>
          <SubmitButton size="small">Replay them</SubmitButton>
        </div>
      </div>
    </FormDetails>
  );
}
