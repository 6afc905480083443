import type { Relay } from "#core/relay/relay.ts";
import { RELAY_HOURS } from "#core/relay/relay.ts";
import { closeRelayAction } from "../../_server/webhooks/close-relay-action.ts";
import { webhookListPath } from "../../_server/webhooks/webhook-paths.ts";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { CodeBlock } from "../code-block.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { CopyField } from "../copy-field.tsx";
import { List, ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { SectionCard } from "../section-card.tsx";

/** A person's relays: where each is, whether somebody listens, and what waits. */
export function RelaysSection({ relays }: Readonly<{ relays: readonly Relay[] }>) {
  return (
    <SectionCard
      title="Relays"
      description="A public address for a receiver that has none of its own, such as one on your laptop."
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
          {relays.length === 0
            ? "There are none yet. One starts with your receiver, and"
            : "A relay starts with your receiver, and"}{" "}
          ends {RELAY_HOURS} hours after nothing listens to it any more. What comes while nothing does is kept until then.
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
            ? "nothing waits"
            : `${waiting.toLocaleString("en")} ${waiting === 1 ? "request waits" : "requests wait"}`}{" "}
          · {isExpired ? "expired" : "expires"} <RelativeTime at={expiresAt} />
        </>
      }
    >
      <div className="mt-3 grid gap-3">
        {isExpired ? (
          <p className="text-muted text-small">
            Its address reaches nobody any more. When its receiver starts again it gets another, and is told which webhooks are to
            be changed.
          </p>
        ) : (
          <CopyField label={`Address of ${name}`} value={url} />
        )}
        <div className="flex flex-wrap items-start gap-3">
          {!isExpired && (
            <ButtonLink size="small" href={`${webhookListPath(null)}/new?url=${encodeURIComponent(url)}`}>
              Make a webhook to it
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
            Its address reaches nobody any more and never comes back, whatever listens is sent away, and what waits is given up.
          </ConfirmDestructive>
        </div>
      </div>
    </ListRow>
  );
}
