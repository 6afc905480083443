import { testKinds } from "@keyhook/sdk";
import { X } from "lucide-react";
import Link from "next/link";
import type { DeliveryDetail } from "#core/webhooks/activity/read-delivery.ts";
import { ActionForm, SubmitButton } from "../../action-form.client.tsx";
import { buttonClass } from "../../button.tsx";
import { Chip } from "../../chip.tsx";
import { CopyButton } from "../../copy-button.client.tsx";
import { UrlText } from "../../copyable.tsx";
import type { FormAction } from "../../form-state.ts";
import { RelativeTime } from "../../relative-time.tsx";
import { Tabs } from "../../tabs.tsx";
import { eventDocsHref } from "../event-docs.ts";
import { FocusPanel } from "./activity-keys.client.tsx";
import { type ActivityQuery, activityHref } from "./activity-query.ts";
import { AttemptDetails, HeaderList, TextBlock } from "./attempt-details.tsx";
import { kindOf, OutcomeChip } from "./delivery-rows.tsx";
import { NextTry } from "./next-try.client.tsx";
import { prettyJson, shownAttempts } from "./pretty-json.ts";
import { curlCommand, type SignedRequest, verifySnippets } from "./verify-snippets.ts";

/** How many responses are compared with the previous one. Each comparison takes time (S137). */
const COMPARED = 5;
/** A longer body is shown only once (S137). */
const REPEATED_MAX_BYTES = 32 * 1024;

type DeliveryPanelProps = Readonly<{
  delivery: DeliveryDetail;
  path: string;
  query: ActivityQuery;
  isJob: boolean;
  hasSecret: boolean;
  replay: FormAction | undefined;
  runHref: (runId: string) => string;
  now: Date;
}>;

export function DeliveryPanel({ delivery, path, query, isJob, hasSecret, replay, runHref, now }: DeliveryPanelProps) {
  const { olderAttempts, body } = delivery;
  const attemptLog = shownAttempts(delivery.attemptLog);
  const request = attemptLog.find((attempt) => attempt.request)?.request ?? null;
  const closed = activityHref(path, query, { delivery: "" });
  return (
    <aside aria-labelledby="delivery-title" className="delivery-panel">
      <FocusPanel of={delivery.id} closed={closed} />
      <header className="border-line border-b p-4">
        <div className="flex flex-wrap items-center gap-2">
          <OutcomeChip state={delivery.state} outcome={delivery.lastOutcome} status={delivery.lastStatus} isJob={isJob} />
          <h2 id="delivery-title" tabIndex={-1} className="min-w-0 flex-1 basis-32 break-words">
            {kindOf(delivery)}
          </h2>
          {delivery.kind === "test" && <Chip>Test</Chip>}
          <Link
            prefetch={false}
            scroll={false}
            href={closed}
            aria-label="Close"
            title="Close (Esc)"
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
            title="Deliveries for this repository"
            className="link"
          >
            {delivery.repo.type} {delivery.repo.name}
          </Link>
          &nbsp;· <RelativeTime at={delivery.createdAt} now={now} />
        </p>
        <p className="flex items-center gap-1 text-fine text-muted">
          <code className="select-all break-all text-fine">{delivery.id}</code>
          <CopyButton value={delivery.id} label="delivery ID" />
        </p>
        <p className="text-small">{describeState(delivery, isJob, now)}</p>
        <div className="mt-3 flex flex-wrap items-start gap-2">
          {replay && delivery.canReplay && (
            <ActionForm key={`${delivery.id} ${delivery.attempts}`} action={replay} label="Replay" className="grid gap-2">
              <SubmitButton size="small" variant="secondary">
                {delivery.state === "waiting" ? "Try now" : "Replay"}
              </SubmitButton>
            </ActionForm>
          )}
          {request && body && body.bytes <= REPEATED_MAX_BYTES && (
            <CopyButton value={curlCommand({ ...request, body: body.text })} label="curl command">
              Copy as curl
            </CopyButton>
          )}
        </div>
      </header>
      {attemptLog.map((attempt, index) => (
        <AttemptDetails
          key={attempt.id}
          {...{ attempt, runHref, isJob, now }}
          previous={index < COMPARED ? attemptLog[index + 1] : undefined}
          isOpen={index === 0}
        />
      ))}
      {olderAttempts && (
        <p className="border-line border-b px-4 py-3 text-muted text-small">The latest {attemptLog.length} attempts are shown.</p>
      )}
      <RequestSection {...{ delivery, request, isJob, hasSecret }} />
    </aside>
  );
}

function describeState({ state, attempts, nextAttemptAt, lastOutcome, canReplay }: DeliveryDetail, isJob: boolean, now: Date) {
  const tries = attempts === 1 ? "one attempt" : `${attempts} attempts`;
  switch (state) {
    case "delivered":
      return attempts > 1 ? `Delivered after ${tries}.` : "Delivered.";
    case "failed":
      return `Failed after ${tries}. It is not retried automatically.`;
    case "rate_limited":
      return `Not sent: the webhook's 24-hour limit was used up, or people who cannot write to the repository had used up their quarter of it.${canReplay ? " You can replay the delivery." : ""}`;
    case "withheld":
      return "Not sent: the webhook's owner, or the app or token that created or last changed it, can no longer read the repository.";
    case "waiting":
      if (!nextAttemptAt) return "On hold until the webhook is enabled.";
      if (attempts === 0) return isJob ? "The job has not finished yet." : "Sending…";
      // For a job, the time of the next attempt is often only the time at which its run is checked.
      if (isJob)
        return `${lastOutcome === "delivered" ? "Delivered before" : `Not delivered after ${tries}`}. The job runs again.`;
      return (
        <>
          {lastOutcome === "delivered"
            ? "Delivered before. It will be sent again "
            : `Not delivered after ${tries}. Next attempt `}
          <NextTry at={nextAttemptAt.getTime()} now={now.getTime()} />.
        </>
      );
  }
}

function RequestSection({
  delivery: { body, bodyMissing, attempts, event },
  request,
  isJob,
  hasSecret,
}: Readonly<{ delivery: DeliveryDetail; request: Request | null; isJob: boolean; hasSecret: boolean }>) {
  const title = isJob ? "Payload" : "Request";
  // A platform may send a kind that the catalog does not have.
  const kind = testKinds.find((each) => each === `${event.scope}.${event.action}`);
  const isLong = body !== null && body.bytes > REPEATED_MAX_BYTES;
  const indented = body === null || isLong ? "" : (prettyJson(body.text) ?? body.text);
  return (
    <section aria-label={title} className="grid gap-2 p-4">
      <h3 className="font-medium text-small">
        {title}
        {request && (
          <span className="wrap-anywhere font-normal font-mono text-fine text-muted">
            {" "}
            POST <UrlText>{request.url}</UrlText>
          </span>
        )}
      </h3>
      {body !== null && attempts > 1 && (
        <p className="text-fine text-muted">
          Every attempt has the same payload
          {request &&
            ` and ID; the timestamp ${isSigned(request) ? "and the signature are" : "is"} new, and a replay is marked as one`}
          .
        </p>
      )}
      {kind && (
        <Link prefetch={false} href={eventDocsHref(kind)} className="link w-fit text-fine text-muted">
          {kind} in the event catalog
        </Link>
      )}
      {isLong && <p className="text-fine text-muted">This payload is long, so it is shown only as it was sent.</p>}
      {body === null ? (
        <p className="text-muted text-small">
          {bodyMissing === "access"
            ? "Not shown: it was never sent, and the webhook's owner, or the app or token that created or last changed it, cannot read the repository."
            : "No longer kept."}
        </p>
      ) : (
        <Tabs
          label={`Parts of the ${title.toLowerCase()}`}
          tabs={[
            ...(isLong
              ? []
              : [
                  {
                    label: "Body",
                    content: <TextBlock text={indented} isJson label={`${title.toLowerCase()} body, indented`} />,
                  },
                ]),
            { label: "Raw", content: <TextBlock text={body.text} label={`${title.toLowerCase()} body as sent`} /> },
            ...(request ? [{ label: "Headers", content: <HeaderList headers={request.headers} label="Request headers" /> }] : []),
            ...(request && !isLong
              ? [{ label: "Verify", content: <Verify request={request} body={body.text} hasSecret={hasSecret} /> }]
              : []),
          ]}
        />
      )}
    </section>
  );
}

type Request = Omit<SignedRequest, "body">;

const isSigned = ({ headers }: Request): boolean => headers["webhook-signature"] !== undefined;

type VerifyProps = Readonly<{
  request: Request;
  body: string;
  hasSecret: boolean;
}>;

function Verify({ request, body, hasSecret }: VerifyProps) {
  if (!isSigned(request)) {
    return (
      <p className="text-muted text-small">
        {hasSecret
          ? "This delivery was not signed, because the webhook had no secret at the time. The next one will be."
          : "Deliveries are not signed, because the webhook has no secret. Add one under Edit, so that your server can verify them."}
      </p>
    );
  }
  return (
    <div className="grid gap-2">
      <p className="text-muted text-small">
        Checks this delivery with the secret that the webhook had then, in <code>WEBHOOK_SECRET</code>. In your server, use a
        Standard Webhooks library, which also rejects deliveries older than five minutes.
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
