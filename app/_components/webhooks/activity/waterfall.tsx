import { percent } from "../sparkline.tsx";
import { spokenMilliseconds } from "./spoken-milliseconds.ts";

export type WaterfallProps = Readonly<{
  /** In milliseconds, each after the one before; null for what did not happen. */
  dns: number | null;
  connect: number | null;
  tls: number | null;
  /** From the request's last byte to the answer's first. */
  waiting: number | null;
  total: number;
  /** Sent over a connection that was open already. */
  isReused: boolean;
}>;

/** Where the time of one attempt went, each part beginning where the one before ended. */
export function Waterfall({ dns, connect, tls, waiting, total, isReused }: WaterfallProps) {
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
              {ms === null ? (isReused ? "reused" : "–") : spokenMilliseconds(ms)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
