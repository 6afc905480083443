import Link from "next/link";
import { readableSize } from "#core/readable-size.ts";
import type { Attempt } from "#core/webhooks/activity/list-attempts.ts";
import { RelativeTime } from "../../relative-time.tsx";
import { HeaderList } from "./header-list.tsx";
import { OutcomeChip } from "./outcome-chip.tsx";
import { prettyJson } from "./pretty-json.ts";
import { spokenMilliseconds } from "./spoken-milliseconds.ts";
import { TextBlock } from "./text-block.tsx";
import { Waterfall } from "./waterfall.tsx";

export type AttemptDetailsProps = Readonly<{
  attempt: Attempt;
  /** The latest one; the others are folded. */
  isOpen: boolean;
  /** Where a run is. */
  runHref: (runId: string) => string;
  isJob: boolean;
  now: Date;
}>;

const kinds = { first: "first try", retry: "retry", replay: "replay", test: "test", relay: "answer through the relay" } as const;

/** One try: how it went, where its time went, and what came back. */
export function AttemptDetails({ attempt, isOpen, runHref, isJob, now }: AttemptDetailsProps) {
  const { number, kind, startedAt, outcome, status, reason, timings, response, jobRunId } = attempt;
  return (
    <details open={isOpen} className="group border-line border-b">
      <summary className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 py-3 text-small hover:bg-sunken">
        <OutcomeChip outcome={outcome} status={status} isJob={isJob} />
        <span className="font-medium">Attempt {number}</span>
        <span className="text-muted">
          {kinds[kind]} · <RelativeTime at={startedAt} now={now} /> · {spokenMilliseconds(timings.totalMs)}
        </span>
        <span aria-hidden="true" className="ml-auto text-muted group-open:rotate-90">
          ›
        </span>
      </summary>
      <div className="grid gap-4 px-4 pb-4">
        {reason && (
          <p className={`break-words text-small ${outcome === "delivered" ? "text-muted" : "text-bad"}`}>{sentence(reason)}</p>
        )}
        {jobRunId ? (
          <p className="text-small">
            <Link prefetch={false} href={runHref(jobRunId)} className="link">
              The run and its log
            </Link>
          </p>
        ) : (
          outcome !== "blocked" &&
          outcome !== "withheld" && (
            <Waterfall
              dns={timings.dnsMs}
              connect={timings.connectMs}
              tls={timings.tlsMs}
              waiting={timings.firstByteMs}
              total={timings.totalMs}
              isReused={timings.isReused}
            />
          )
        )}
        {response && <Answer response={response} status={status} number={number} />}
      </div>
    </details>
  );
}

function Answer({
  response,
  status,
  number,
}: Readonly<{ response: NonNullable<Attempt["response"]>; status: number | null; number: number }>) {
  const { headers, body } = response;
  const json = body.text === null ? null : prettyJson(body.text);
  return (
    <div className="grid min-w-0 gap-2">
      <h3 className="font-medium text-small">
        Answer {status !== null && <span className="font-normal text-muted">· {status}</span>}
      </h3>
      {body.text ? (
        <TextBlock text={json ?? body.text} isJson={json !== null} label={`answer's body of attempt ${number}`} />
      ) : (
        <p className="text-muted text-small">
          {body.bytes === 0 ? "It had no body." : `${readableSize(body.bytes)} that are no text.`}
        </p>
      )}
      {body.isCut && <p className="text-fine text-muted">There was more of it: the first 64 KiB are kept.</p>}
      <details>
        <summary className="link w-fit text-muted text-small">{Object.keys(headers).length} headers</summary>
        <div className="mt-2">
          <HeaderList headers={headers} label={`Answer's headers of attempt ${number}`} />
        </div>
      </details>
    </div>
  );
}

/** A clause as a sentence. */
const sentence = (clause: string): string =>
  `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}${/[.!?]$/.test(clause) ? "" : "."}`;
