import { X } from "lucide-react";
import Link from "next/link";
import type { DeliveryDetail } from "#core/webhooks/activity/read-delivery.ts";
import { ActionForm } from "../../action-form.client.tsx";
import { buttonClass } from "../../button.tsx";
import { Chip } from "../../chip.tsx";
import type { FormAction } from "../../form-state.ts";
import { RelativeTime } from "../../relative-time.tsx";
import { SubmitButton } from "../../submit-button.client.tsx";
import { Tabs } from "../../tabs.tsx";
import { type ActivityQuery, activityHref } from "./activity-query.ts";
import { AttemptDetails } from "./attempt-details.tsx";
import { kindOf } from "./delivery-rows.tsx";
import { HeaderList } from "./header-list.tsx";
import { NextTry } from "./next-try.client.tsx";
import { OutcomeChip } from "./outcome-chip.tsx";
import { prettyJson } from "./pretty-json.ts";
import { ShowPanel } from "./show-panel.client.tsx";
import { TextBlock } from "./text-block.tsx";
import { verifySnippets } from "./verify-snippets.ts";

export type DeliveryPanelProps = Readonly<{
  delivery: DeliveryDetail;
  path: string;
  query: ActivityQuery;
  isJob: boolean;
  hasSecret: boolean;
  /** Absent for who only looks. */
  replay: FormAction | undefined;
  runHref: (runId: string) => string;
  now: Date;
}>;

/** One delivery: what was sent, every try and what came back. Beside the list; below it where there is no room. */
export function DeliveryPanel({ delivery, path, query, isJob, hasSecret, replay, runHref, now }: DeliveryPanelProps) {
  const { attemptLog, olderAttempts } = delivery;
  return (
    <aside
      aria-labelledby="delivery-title"
      className="min-w-0 overflow-clip rounded-card border border-line bg-surface xl:sticky xl:top-4 xl:max-h-(--height-panel) xl:overflow-y-auto"
    >
      <ShowPanel of={delivery.id} />
      <header id="delivery" className="scroll-mt-4 border-line border-b p-4">
        <div className="flex flex-wrap items-center gap-2">
          <OutcomeChip state={delivery.state} outcome={delivery.lastOutcome} status={delivery.lastStatus} isJob={isJob} />
          <h2 id="delivery-title" tabIndex={-1} className="min-w-0 flex-1 basis-32 break-words">
            {kindOf(delivery)}
          </h2>
          {delivery.kind === "test" && <Chip>test</Chip>}
          <Link
            prefetch={false}
            scroll={false}
            href={activityHref(path, query, { delivery: "" })}
            aria-label="Close"
            title="Close"
            className={buttonClass({ variant: "quiet", size: "icon" })}
          >
            <X className="size-4" aria-hidden="true" />
          </Link>
        </div>
        <p className="mt-1 break-words text-muted text-small">
          <Link
            prefetch={false}
            scroll={false}
            href={activityHref(path, query, { repo: delivery.repo.name, before: "" })}
            title="Deliveries of this repository"
            className="link"
          >
            {delivery.repo.type} {delivery.repo.name}
          </Link>{" "}
          · <RelativeTime at={delivery.createdAt} now={now} />
        </p>
        <p className="mt-1 text-small">{standing(delivery, now)}</p>
        {replay && delivery.canReplay && (
          <ActionForm key={`${delivery.id} ${delivery.attempts}`} action={replay} label="Replay" className="mt-3 grid gap-2">
            <div>
              <SubmitButton size="small" variant="secondary">
                {delivery.state === "waiting" ? "Try now" : "Replay"}
              </SubmitButton>
            </div>
          </ActionForm>
        )}
      </header>
      {attemptLog.map((attempt, index) => (
        <AttemptDetails key={attempt.id} {...{ attempt, runHref, isJob, now }} isOpen={index === 0} />
      ))}
      {olderAttempts && (
        <p className="border-line border-b px-4 py-3 text-muted text-small">The latest {attemptLog.length} attempts are shown.</p>
      )}
      <RequestSection delivery={delivery} isJob={isJob} hasSecret={hasSecret} />
      <footer className="border-line border-t px-4 py-3 font-mono text-fine text-muted">
        <span className="font-sans">Delivery </span>
        <span className="select-all break-all">{delivery.id}</span>
      </footer>
    </aside>
  );
}

/** Where it stands, in a sentence. */
function standing({ state, attempts, nextAttemptAt, lastOutcome }: DeliveryDetail, now: Date) {
  const tries = attempts === 1 ? "one attempt" : `${attempts} attempts`;
  switch (state) {
    case "delivered":
      return attempts > 1 ? `Delivered after ${tries}.` : "Delivered.";
    case "failed":
      return `Failed after ${tries}; nothing more is tried by itself.`;
    case "rate_limited":
      return "Over the limit of 24 hours: recorded, and not sent. It can be replayed.";
    case "withheld":
      return "Not sent: the webhook's owner could not read the repository any more.";
    case "waiting":
      if (!nextAttemptAt) return "On hold: it is sent when the webhook is enabled.";
      if (attempts === 0) return "Being sent.";
      return (
        <>
          {lastOutcome === "delivered" ? "Delivered before; sent again " : `Not delivered after ${tries}; next try `}
          <NextTry at={nextAttemptAt.getTime()} now={now.getTime()} />.
        </>
      );
  }
}

function RequestSection({
  delivery,
  isJob,
  hasSecret,
}: Readonly<{ delivery: DeliveryDetail; isJob: boolean; hasSecret: boolean }>) {
  const { body, bodyMissing, attemptLog } = delivery;
  const request = attemptLog.find((attempt) => attempt.request)?.request ?? null;
  const title = isJob ? "Payload" : "Request";
  return (
    <section aria-label={title} className="grid gap-2 p-4">
      <h3 className="font-medium text-small">
        {title}
        {request && <span className="break-all font-normal font-mono text-fine text-muted"> POST {request.url}</span>}
      </h3>
      {body === null ? (
        <p className="text-muted text-small">
          {bodyMissing === "access"
            ? "It is not shown: it was never sent, and the webhook's owner may not read the repository."
            : "It is not kept any more."}
        </p>
      ) : (
        <Tabs
          label={`Parts of the ${title.toLowerCase()}`}
          tabs={[
            {
              label: "Body",
              content: (
                <TextBlock text={prettyJson(body.text) ?? body.text} isJson label={`${title.toLowerCase()} body, indented`} />
              ),
            },
            { label: "Raw", content: <TextBlock text={body.text} label={`${title.toLowerCase()} body as sent`} /> },
            ...(request
              ? [
                  { label: "Headers", content: <HeaderList headers={request.headers} label="Request's headers" /> },
                  { label: "Verify", content: <Verify request={request} body={body.text} hasSecret={hasSecret} /> },
                ]
              : []),
          ]}
        />
      )}
    </section>
  );
}

type VerifyProps = Readonly<{
  request: Readonly<{ url: string; headers: Readonly<Record<string, string>> }>;
  body: string;
  hasSecret: boolean;
}>;

function Verify({ request, body, hasSecret }: VerifyProps) {
  if (request.headers["webhook-signature"] === undefined) {
    return (
      <p className="text-muted text-small">
        {hasSecret
          ? "This delivery was not signed: the webhook had no secret yet. The next one is."
          : "Nothing is signed: the webhook has no secret. Give it one under Edit, so that the target can tell who is calling."}
      </p>
    );
  }
  return (
    <div className="grid gap-2">
      <p className="text-muted text-small">
        Checks this very delivery, with the secret in <code>WEBHOOK_SECRET</code>. In a receiver, use a library of Standard
        Webhooks, which refuses what is older than five minutes too.
      </p>
      <Tabs
        label="Language"
        tabs={verifySnippets({ ...request, body }).map(({ label, code }) => ({
          label,
          content: <TextBlock text={code} label={`${label} snippet`} />,
        }))}
      />
    </div>
  );
}
