import { classNames } from "./class-names.ts";

export type MeterProps = Readonly<{
  label: string;
  /** How much, in words, as `3 GB of 50 GB`. */
  text: string;
  value: number;
  /** Null is without limit: there is nothing to draw then. */
  max: number | null;
}>;

const WIDTH = 1_000;
/** A little of something is seen; nothing is drawn as nothing. */
const SMALLEST = 8;
const NEARLY_FULL = 0.9;

/** How much of a limit is used. Drawn by ourselves: a browser's own bar fills up at nothing, where its corners are round. */
export function Meter({ label, text, value, max }: MeterProps) {
  const share = max === null ? 0 : max === 0 ? 1 : value / max;
  const state = share >= 1 ? "full" : share >= NEARLY_FULL ? "nearly full" : undefined;
  return (
    <div className="grid gap-1.5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-medium">{label}</span>
        <span className="text-small tabular-nums">
          {state && (
            <span className={classNames("font-medium", share >= 1 && "text-bad")}>
              {state === "full" ? "Full" : "Nearly full"} ·{" "}
            </span>
          )}
          <span className="text-muted">{text}</span>
        </span>
      </p>
      {max !== null && (
        <div className="h-2 overflow-hidden rounded-full border border-line bg-sunken">
          <meter aria-label={`${label}: ${text}`} min={0} max={max} value={Math.min(value, max)} className="sr-only" />
          <svg aria-hidden="true" viewBox={`0 0 ${WIDTH} 1`} preserveAspectRatio="none" className="block h-full w-full">
            {value > 0 && (
              <rect
                width={Math.min(WIDTH, Math.max(SMALLEST, share * WIDTH))}
                height={1}
                className={share >= 1 ? "fill-bad" : "fill-ink/75"}
              />
            )}
          </svg>
        </div>
      )}
    </div>
  );
}

/** `3 GB of 50 GB` */
export const ofLimit = (used: string, limit: string | null): string =>
  limit === null ? `${used}, no limit` : `${used} of ${limit}`;
