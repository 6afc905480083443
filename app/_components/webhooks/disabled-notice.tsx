import { testKinds } from "@keyhook/sdk";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import type { OwnerName } from "../../_server/paths.ts";
import { sendTestAction, setWebhookEnabledAction } from "../../_server/webhooks/actions.ts";
import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import type { ButtonLook } from "../button.tsx";
import { FormDetails } from "../details-form.client.tsx";
import { CancelButton } from "../disclosure.client.tsx";
import { Select } from "../fields.client.tsx";
import { LocalTime } from "../local-time.client.tsx";
import { FormMessage } from "../page-layout.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { selectedKinds } from "./webhook-fields.tsx";

type DisabledNoticeProps = Readonly<{ webhook: Webhook; home: OwnerName; isManager: boolean }>;

/** While a webhook has failed for less than this time, the notice does not mention disabling. */
const SHORT_MS = 10 * 60_000;

export function DisabledNotice({ webhook, home, isManager }: DisabledNoticeProps) {
  const { id, disabledAt, disabledReason, failingSince, job, madeWith } = webhook;
  const enable = isManager && (
    <div className="mt-2">
      <EnabledForm home={home} webhookId={id} isEnabled={false} />
    </div>
  );
  if (disabledAt === null) {
    if (!failingSince) return null;
    if (Date.now() - failingSince.getTime() < SHORT_MS) {
      return <FormMessage tone="warn">The latest deliveries failed. Check the {job ? "jobs" : "responses"} below.</FormMessage>;
    }
    return (
      <FormMessage tone="warn">
        All deliveries have failed since <LocalTime at={failingSince} look="minute" />. Check the {job ? "jobs" : "responses"}{" "}
        below. After five days of failures, the webhook is disabled.
      </FormMessage>
    );
  }
  const since = <RelativeTime at={disabledAt} />;
  if (disabledReason === "gone") {
    return (
      <FormMessage tone="bad">
        Disabled {since}: the server responded with <b>410 Gone</b>, which asks us to stop. If the server has moved, set its new
        URL under Edit, then enable the webhook. Events that occur while the webhook is disabled are not sent.
        {enable}
      </FormMessage>
    );
  }
  if (disabledReason === "failing") {
    return (
      <FormMessage tone="bad">
        Disabled {since}: all deliveries failed for five days. Fix the {job ? "job" : "server"}, enable the webhook, send a test,
        and replay the failed deliveries.
        {enable}
      </FormMessage>
    );
  }
  if (disabledReason === "grant_ended" || madeWith?.isEnded) {
    return (
      <FormMessage tone="warn">
        {disabledReason === "grant_ended" ? <>Disabled {since}: the</> : <>Disabled manually {since}. The</>} app or token that
        created or last changed this webhook has lost its access. Check{" "}
        {job ? "what the webhook runs" : "where the webhook sends events"} before you enable it: it then acts with your own
        permissions.
        {enable}
      </FormMessage>
    );
  }
  return (
    <FormMessage tone="neutral">
      Disabled manually {since}. It gets no events, and retries wait until it is enabled.
      {enable}
    </FormMessage>
  );
}

type SendTestFormProps = Readonly<{ webhook: Webhook; home: OwnerName }>;

export function SendTestForm({ webhook, home }: SendTestFormProps) {
  const selected = selectedKinds(webhook);
  const usual = selected.find((kind) => kind === "repo.content.update") ?? "discussion.comment.create";
  return (
    <FormDetails
      action={sendTestAction.bind(null, home, webhook.id)}
      trigger="Send a test"
      look={{ size: "small" }}
      label="Send a test"
    >
      <Select
        name="kind"
        label="Event"
        hint={`${webhook.job ? "Runs the job with a sample event." : "Sends a sample event with the X-Webhook-Test header."} It does not count toward the webhook's limit.`}
        options={[...selected, ...testKinds.filter((kind) => !selected.includes(kind))].map((kind) => ({
          value: kind,
          label: selected.includes(kind) ? kind : `${kind} (not selected)`,
        }))}
        defaultValue={usual}
      />
      <div className="flex gap-2">
        <SubmitButton size="small">Send test</SubmitButton>
        <CancelButton size="small" />
      </div>
    </FormDetails>
  );
}

export function FirstTestForm({ webhook, home }: SendTestFormProps) {
  return (
    <ActionForm
      action={sendTestAction.bind(null, home, webhook.id)}
      label="Send a first test"
      className="grid justify-items-center gap-3"
    >
      <SubmitButton className="justify-self-center">Send a test</SubmitButton>
    </ActionForm>
  );
}

type EnabledFormProps = Readonly<{ home: OwnerName; webhookId: string; isEnabled: boolean }> &
  Pick<ButtonLook, "variant" | "size">;

/** Asks for no confirmation, because both actions can be undone. */
export function EnabledForm({ home, webhookId, isEnabled, variant = "secondary", size = "small" }: EnabledFormProps) {
  return (
    <ActionForm
      action={setWebhookEnabledAction.bind(null, home, webhookId, !isEnabled)}
      label={isEnabled ? "Disable" : "Enable"}
      className="grid justify-items-start gap-2"
    >
      <SubmitButton variant={variant} size={size}>
        {isEnabled ? "Disable" : "Enable"}
      </SubmitButton>
    </ActionForm>
  );
}
