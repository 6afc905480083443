import { WEBHOOKS_MAX_PER_OWNER } from "@keyhook/sdk";
import { listRelays } from "#core/relay/list-relays.ts";
import { sparklines } from "#core/webhooks/activity/sparklines.ts";
import { listWebhooks } from "#core/webhooks/manage/list-webhooks.ts";
import { noticeOf } from "../../_server/page-query.ts";
import type { WebhookPlace } from "../../_server/webhooks/find-webhook-owner.ts";
import { webhookListPath } from "../../_server/webhooks/webhook-paths.ts";
import { ButtonLink } from "../button.tsx";
import { FormMessage } from "../form-message.tsx";
import { PageHeader } from "../page-header.tsx";
import { RelaysSection } from "../relays/relays-section.tsx";
import { WebhookList } from "./webhook-list.tsx";

export type WebhookListPageProps = Readonly<{
  place: WebhookPlace;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = {
  deleted: "The webhook is deleted. Nothing more is sent to it, and what waited was dropped.",
  "relay-closed": "The relay is closed. Its address reaches nobody any more.",
};

/** The webhooks of a person or an organization: whom they tell, of what, and how it goes. */
export async function WebhookListPage({ place: { person, owner, home, fullName }, query }: WebhookListPageProps) {
  const path = webhookListPath(home);
  const webhooks = await listWebhooks(person, owner);
  const recent = await sparklines(webhooks.map(({ id }) => id));
  // Relays are people's own.
  const relays = home === null ? await listRelays(person, person.userId) : null;
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="Webhooks"
        description={
          fullName === null
            ? "What is told, as it happens, of changes in the repositories that you choose."
            : `What ${fullName} tells, as it happens, of changes in the repositories that it watches.`
        }
        actions={
          webhooks.length > 0 && (
            <ButtonLink variant="primary" href={`${path}/new`}>
              New webhook
            </ButtonLink>
          )
        }
      />
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <WebhookList webhooks={webhooks} recent={recent} path={path} />
        {relays && <RelaysSection relays={relays} />}
      </div>
      {webhooks.length >= WEBHOOKS_MAX_PER_OWNER * 0.8 && (
        <p className="mt-3 text-muted text-small">
          {webhooks.length} of {WEBHOOKS_MAX_PER_OWNER} webhooks.
        </p>
      )}
    </>
  );
}
