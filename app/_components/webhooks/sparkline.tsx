export type SparklineProps = Readonly<{
  /** In order of time, the last one now. */
  points: ReadonlyArray<Readonly<{ delivered: number; failed: number }>>;
  /** Of all of them, from 0 to 1; null where there are none. */
  share: number | null;
  /** Over what time: "in 24 hours". */
  span: string;
}>;

/** How deliveries went, in a line of small bars: what failed stands on what was delivered. The share is said beside it. */
export function Sparkline({ points, share, span }: SparklineProps) {
  const highest = Math.max(1, ...points.map((point) => point.delivered + point.failed));
  return (
    <span className="flex items-end gap-3">
      {share !== null && (
        <span aria-hidden="true" className="flex h-7 w-28 items-end gap-px border-line border-b">
          {points.map((point, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a point has nothing but its place
            <span key={index} className="flex h-full min-w-0 flex-1 flex-col justify-end">
              {point.failed > 0 && <span className="min-h-0.5 bg-bad" style={{ height: percent(point.failed / highest) }} />}
              {point.delivered > 0 && (
                <span className="min-h-0.5 bg-ink/60" style={{ height: percent(point.delivered / highest) }} />
              )}
            </span>
          ))}
        </span>
      )}
      <span className="text-small sm:w-28 sm:text-right">
        {share === null ? (
          <span className="text-muted">none {span}</span>
        ) : (
          <>
            <b className={share < 0.9 ? "block text-bad tabular-nums" : "block tabular-nums"}>{spokenShare(share)}</b>
            <span className="block text-fine text-muted">delivered {span}</span>
          </>
        )}
      </span>
    </span>
  );
}

/** `98.4 %`; never 100 while one failed, nor 0 while one did not. */
export function spokenShare(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)} %`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
