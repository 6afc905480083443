import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import type { WebhookHome } from "../../_server/webhooks/webhook-paths.ts";
import { FormMessage } from "../form-message.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { EnabledForm } from "./enabled-form.tsx";

export type DisabledNoticeProps = Readonly<{ webhook: Webhook; home: WebhookHome; isManager: boolean }>;

/** A failure of a moment is no reason to speak of days. */
const SHORT_MS = 10 * 60_000;

/** Why a webhook tells nobody, since when, and what to do about it; or that it will come to that. */
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
      return <FormMessage tone="warn">The latest attempts failed. See below what the {job ? "job" : "target"} said.</FormMessage>;
    }
    return (
      <FormMessage tone="warn">
        Every attempt has failed since <RelativeTime at={failingSince} />. See what the {job ? "job" : "target"} said below. After
        five days like this the webhook is suspended.
      </FormMessage>
    );
  }
  const since = <RelativeTime at={disabledAt} />;
  if (disabledReason === "gone") {
    return (
      <FormMessage tone="bad">
        The target answered <b>410 Gone</b> {since}, which says that it wants nothing more, so nothing is sent. If the receiver
        has moved, set its new address under Edit, then enable the webhook. What happened meanwhile is not sent later.
        {enable}
      </FormMessage>
    );
  }
  if (disabledReason === "failing") {
    return (
      <FormMessage tone="bad">
        Suspended {since}: every attempt of five days failed
        {failingSince && (
          <>
            {" "}
            (since <RelativeTime at={failingSince} />)
          </>
        )}
        . Mend the {job ? "job" : "receiver"}, enable the webhook, send it a test, and replay what failed.
        {enable}
      </FormMessage>
    );
  }
  if (disabledReason === "grant_ended" || madeWith?.isEnded) {
    return (
      <FormMessage tone="warn">
        Disabled {since}: an app or a token created this webhook or changed it last, and its access has ended. Check where the
        webhook sends events before you enable it: it then acts with your own rights.
        {enable}
      </FormMessage>
    );
  }
  return (
    <FormMessage tone="neutral">
      Disabled by you or somebody with you {since}. Events do not set it off; what was to be tried again waits until it is
      enabled.
      {enable}
    </FormMessage>
  );
}
