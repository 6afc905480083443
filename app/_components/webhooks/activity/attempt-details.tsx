import Link from "next/link";
import { counted } from "#core/counted.ts";
import { readableSize } from "#core/readable-size.ts";
import { highlight } from "../../code-view.tsx";
import { CopyButton } from "../../copy-button.client.tsx";
import { RelativeTime } from "../../relative-time.tsx";
import { withHtml } from "../../safe-html.ts";
import { percent } from "../webhook-list.tsx";
import { OutcomeChip } from "./delivery-rows.tsx";
import { formatMilliseconds } from "./format-milliseconds.ts";
import type { ShownAttempt } from "./pretty-json.ts";
import { ResponseChanges } from "./response-changes.tsx";

type AttemptDetailsProps = Readonly<{
  attempt: ShownAttempt;
  previous: ShownAttempt | undefined;
  isOpen: boolean;
  runHref: (runId: string) => string;
  isJob: boolean;
  now: Date;
}>;

const kinds = {
  first: "first attempt",
  retry: "retry",
  replay: "replay",
  test: "test",
  relay: "response through the relay",
} as const;

export function AttemptDetails({ attempt, previous, isOpen, runHref, isJob, now }: AttemptDetailsProps) {
  const { number, kind, startedAt, outcome, status, reason, timings, response, jobRunId } = attempt;
  return (
    <details open={isOpen} className="group border-line border-b">
      <summary className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 py-3 text-small hover:bg-sunken">
        <OutcomeChip outcome={outcome} status={status} isJob={isJob} />
        <span className="font-medium">Attempt {number}</span>
        <span className="text-muted">
          {kinds[kind]} · <RelativeTime at={startedAt} now={now} /> · {formatMilliseconds(timings.totalMs)}
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
              Job and log
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
        {response && <ResponseDetails {...attempt} {...{ response, isOpen }} />}
        {response && <ResponseChanges attempt={attempt} previous={previous} />}
      </div>
    </details>
  );
}

/** Colors can make a text twenty times as long (S137). */
const COLORED_MAX_CHARACTERS = 4 * 1024;

type ResponseDetailsProps = Readonly<
  Pick<ShownAttempt, "json" | "isShown" | "status" | "number"> & {
    response: NonNullable<ShownAttempt["response"]>;
    isOpen: boolean;
  }
>;

function ResponseDetails({ response: { headers, body }, json, isShown, status, number, isOpen }: ResponseDetailsProps) {
  const isColored = json !== null && (isOpen || json.length <= COLORED_MAX_CHARACTERS);
  return (
    <div className="grid min-w-0 gap-2">
      <h3 className="font-medium text-small">
        Response {status !== null && <span className="font-normal text-muted">· {status}</span>}
      </h3>
      {body.text && isShown ? (
        <TextBlock text={json ?? body.text} isJson={isColored} label={`response body of attempt ${number}`} />
      ) : body.text ? (
        <p className="text-muted text-small">Not shown, because the page would become too long. The API returns it.</p>
      ) : (
        <p className="text-muted text-small">{body.bytes === 0 ? "No body." : `${readableSize(body.bytes)} of binary data.`}</p>
      )}
      {body.isCut && <p className="text-fine text-muted">Truncated: the first 64 KiB are kept.</p>}
      <details>
        <summary className="link w-fit text-muted text-small">{counted(Object.keys(headers).length, "header")}</summary>
        <div className="mt-2">
          <HeaderList headers={headers} label={`Response headers of attempt ${number}`} />
        </div>
      </details>
    </div>
  );
}

const sentence = (clause: string): string =>
  `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}${/[.!?]$/.test(clause) ? "" : "."}`;

type WaterfallProps = Readonly<{
  /** In milliseconds. Null for a phase that did not happen. */
  dns: number | null;
  connect: number | null;
  tls: number | null;
  /** From the last byte of the request to the first byte of the response. */
  waiting: number | null;
  total: number;
  isReused: boolean;
}>;

function Waterfall({ dns, connect, tls, waiting, total, isReused }: WaterfallProps) {
  const known = [
    { name: "DNS", ms: dns },
    { name: "Connect", ms: connect },
    { name: "TLS", ms: tls },
    { name: "Waiting", ms: waiting },
  ];
  const before = known.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
  const parts = [...known, { name: waiting === null ? "Gave up" : "Body", ms: Math.max(0, total - before) }];
  const whole = Math.max(1, total, before);
  let start = 0;
  return (
    <dl className="grid grid-cols-(--columns-waterfall) items-center gap-y-1.5 text-fine text-muted">
      {parts.map(({ name, ms }) => {
        const left = start;
        start += ms ?? 0;
        return (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd aria-hidden="true" className="relative h-2 rounded-full bg-sunken">
              {ms !== null && (
                <span
                  className="absolute inset-y-0 min-w-1 max-w-full rounded-full bg-brand"
                  style={{ left: `min(${percent(left / whole)}, 100% - 4px)`, width: percent(ms / whole) }}
                />
              )}
            </dd>
            <dd className="text-right font-mono tabular-nums">
              {ms === null ? (isReused ? "reused" : "–") : formatMilliseconds(ms)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

type HeaderListProps = Readonly<{ headers: Readonly<Record<string, string>>; label: string }>;

export function HeaderList({ headers, label }: HeaderListProps) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return <p className="text-muted text-small">None.</p>;
  return (
    <dl aria-label={label} className="grid gap-y-1 font-mono text-fine">
      {entries.map(([name, value]) => (
        <div key={name} className="break-all">
          <dt className="inline text-muted">{name}: </dt>
          <dd className="inline">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type TextBlockProps = Readonly<{
  text: string;
  label: string;
  isJson?: boolean;
}>;

export async function TextBlock({ text, label, isJson }: TextBlockProps) {
  const html = isJson ? await highlight(text, "body.json") : undefined;
  return (
    <div className="relative rounded-control contain-inline-size border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="max-h-96 overflow-auto rounded-control p-3 pr-11">
        <pre className="text-fine leading-5">
          {html ? <code className="text-fine" {...withHtml(html)} /> : <code className="text-fine">{text}</code>}
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={text} label={label} />
      </div>
    </div>
  );
}
