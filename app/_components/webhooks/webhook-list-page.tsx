import { WEBHOOKS_MAX_PER_OWNER } from "@keyhook/sdk";
import type { Metadata } from "next";
import { listRelays } from "#core/relay/open-relay.ts";
import { RELAY_HOURS, type Relay } from "#core/relay/relay.ts";
import { sparklines } from "#core/webhooks/activity/sparklines.ts";
import { listWebhooks } from "#core/webhooks/manage/find-webhook.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { noticeOf } from "../../_server/page-query.ts";
import { webhookListPath } from "../../_server/paths.ts";
import { closeRelayAction } from "../../_server/webhooks/actions.ts";
import { findWebhooksPage } from "../../_server/webhooks/find-webhook-page.ts";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { CodeBlock, CopyField } from "../copyable.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { List, ListRow } from "../list.tsx";
import { PageColumn, SectionCard } from "../page-layout.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { WebhookList } from "./webhook-list.tsx";

export const metadata: Metadata = { title: "Webhooks" };

const notices: Readonly<Record<string, string>> = {
  deleted: "Webhook deleted.",
  "relay-closed": "Relay closed. Its URL no longer works.",
};

export async function WebhookListPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const { person, owner, home, fullName } = await findWebhooksPage(org);
  const path = webhookListPath(home);
  const webhooks = await listWebhooks(person, owner);
  const recent = await sparklines(webhooks.map(({ id }) => id));
  const relays = home === null ? await listRelays(person, person.userId) : null;
  return (
    <>
      <PageColumn
        title="Webhooks"
        description={
          fullName === null
            ? "Notify a server, or run a job, when something changes in the repositories that you choose."
            : `Notify a server, or run a job, when something changes in the repositories that ${fullName} watches.`
        }
        actions={
          webhooks.length > 0 && (
            <ButtonLink variant="primary" href={`${path}/new`}>
              New webhook
            </ButtonLink>
          )
        }
        notice={noticeOf(notices, query.notice)}
      >
        <WebhookList webhooks={webhooks} recent={recent} path={path} />
        {relays && <RelaysSection relays={relays} />}
      </PageColumn>
      {webhooks.length >= WEBHOOKS_MAX_PER_OWNER * 0.8 && (
        <p className="mt-3 text-muted text-small">
          {webhooks.length} of {WEBHOOKS_MAX_PER_OWNER} webhooks.
        </p>
      )}
    </>
  );
}

function RelaysSection({ relays }: Readonly<{ relays: readonly Relay[] }>) {
  return (
    <SectionCard
      title="Relays"
      description="A public URL for a receiver that has none of its own, such as one on your laptop."
      isFlush
    >
      {relays.length > 0 && (
        <List label="Relays">
          {relays.map((relay) => (
            <RelayRow key={relay.name} relay={relay} />
          ))}
        </List>
      )}
      <div className={`grid gap-3 px-4 py-4 text-muted text-small sm:px-5 ${relays.length > 0 ? "border-line border-t" : ""}`}>
        <p className="max-w-reading">
          {relays.length === 0 && "No relays yet. "}A relay starts with your receiver, which renews it while it runs. It expires{" "}
          {RELAY_HOURS} hours after the last renewal; until then, it keeps the requests that arrive while no receiver is
          connected.
        </p>
        <CodeBlock label="command to start a relay" code="keyhook webhooks listen --forward-to http://localhost:3000" />
      </div>
    </SectionCard>
  );
}

function RelayRow({ relay }: Readonly<{ relay: Relay }>) {
  const { name, url, isListening, waiting, expiresAt } = relay;
  const isExpired = expiresAt <= new Date();
  return (
    <ListRow
      title={
        <>
          {name}
          {isExpired ? (
            <Chip tone="warn">Expired</Chip>
          ) : isListening ? (
            <Chip tone="good">Listening</Chip>
          ) : (
            <Chip>Not listening</Chip>
          )}
        </>
      }
      meta={
        <>
          {waiting === 0
            ? "no waiting requests"
            : `${waiting.toLocaleString("en")} waiting ${waiting === 1 ? "request" : "requests"}`}{" "}
          · {isExpired ? "expired" : "expires"} <RelativeTime at={expiresAt} />
        </>
      }
    >
      <div className="mt-3 grid gap-3">
        {isExpired ? (
          <p className="text-muted text-small">
            Its URL no longer works. When its receiver starts again, the relay gets a new URL, and the receiver lists the webhooks
            to update.
          </p>
        ) : (
          <CopyField label={`URL of ${name}`} value={url} />
        )}
        <div className="flex flex-wrap items-start gap-3">
          {!isExpired && (
            <ButtonLink size="small" href={`${webhookListPath(null)}/new?url=${encodeURIComponent(url)}`}>
              Create webhook
            </ButtonLink>
          )}
          <ConfirmDestructive
            action={closeRelayAction.bind(null, name)}
            trigger="Close"
            title={`Close ${name}?`}
            confirm={`Close ${name}`}
            size="small"
            isQuiet
          >
            {isExpired
              ? "It disappears from this list."
              : "Its URL stops working permanently, a connected receiver is disconnected, and waiting requests are dropped."}
          </ConfirmDestructive>
        </div>
      </div>
    </ListRow>
  );
}
