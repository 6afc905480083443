import type { ReactNode } from "react";
import { presets } from "#core/accounts/publishers/presets.ts";
import type { ListedPublisher } from "#core/hub/publishers/list-publishers.ts";
import { Chip } from "../chip.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import type { FormAction } from "../form-state.ts";
import { ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";

export type PublisherRowProps = Readonly<{
  publisher: ListedPublisher;
  /** What its jobs may write, where the list is of several. */
  repo?: ReactNode;
  /** Absent where it is only looked at. */
  remove?: FormAction;
}>;

/** Whose jobs are trusted: by what they are known, when one came last, and how to end it. */
export function PublisherRow({ publisher, repo, remove }: PublisherRowProps) {
  const { preset, issuer, claims, pinned, createdAt, addedBy, lastUsedAt, lastRefusal } = publisher;
  const { label } = presets[preset];
  const [name = label] = Object.values(claims);
  const recorded = Object.entries(pinned).filter(([claim]) => !Object.hasOwn(claims, claim));
  return (
    <ListRow
      title={
        <>
          {repo ?? <span className="min-w-0 break-all">{name}</span>}
          <Chip>{label}</Chip>
        </>
      }
      meta={
        <>
          {lastUsedAt ? (
            <>
              last used <RelativeTime at={lastUsedAt} />
            </>
          ) : (
            "never used"
          )}{" "}
          · added <RelativeTime at={createdAt} />
          {addedBy && <> by {addedBy}</>}
        </>
      }
    >
      <dl className="mt-2 grid gap-x-3 gap-y-1 text-small sm:grid-cols-[max-content_1fr]">
        <Fact name="iss" value={issuer} />
        {Object.entries(claims).map(([claim, value]) => (
          <Fact key={claim} name={claim} value={value} />
        ))}
        {recorded.map(([claim, value]) => (
          <Fact key={claim} name={claim} value={value} note="recorded with the first run" />
        ))}
      </dl>
      {lastRefusal && (
        <p className="mt-2 break-words text-bad text-small">
          Refused <RelativeTime at={lastRefusal.at} />: {lastRefusal.reason}.
        </p>
      )}
      {remove && (
        <div className="mt-3">
          <ConfirmDestructive
            action={remove}
            trigger="Remove"
            title={
              <>
                No longer trust <span className="break-all">{name}</span>?
              </>
            }
            confirm="Remove the publisher"
            size="small"
          >
            Its jobs get no more tokens, and those that they have are refused at once.
          </ConfirmDestructive>
        </div>
      )}
    </ListRow>
  );
}

function Fact({ name, value, note }: Readonly<{ name: string; value: string; note?: string }>) {
  return (
    <div className="min-w-0 sm:contents">
      <dt className="break-all text-muted">
        <code>{name}</code>
      </dt>
      <dd className="min-w-0 break-all">
        <code>{value}</code>
        {note && <span className="break-words text-muted"> · {note}</span>}
      </dd>
    </div>
  );
}
