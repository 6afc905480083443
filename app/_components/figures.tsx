import Link from "next/link";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type Figure = Readonly<{
  label: string;
  value: ReactNode;
  note?: ReactNode;
  href?: string;
}>;

type FiguresProps = Readonly<{ figures: readonly Figure[] }>;

export function Figures({ figures }: FiguresProps) {
  return (
    <dl className="grid grid-cols-2 gap-x-5 gap-y-5 sm:grid-cols-3 xl:grid-cols-4">
      {figures.map(({ label, value, note, href }) => (
        <div key={label} className="min-w-0">
          <dt className="text-muted text-small">
            {href ? (
              <Link prefetch={false} href={href} className="link">
                {label}
              </Link>
            ) : (
              label
            )}
          </dt>
          <dd className="mt-0.5">
            <span className="block break-words font-medium text-title tabular-nums [&_time]:whitespace-normal">{value}</span>
            {note && <span className="block text-muted text-small">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

type MeterProps = Readonly<{
  label: string;
  text: string;
  value: number;
  max: number | null;
}>;

const WIDTH = 1_000;
/** The least width of the bar, so that a small amount is visible. Zero draws nothing. */
const SMALLEST = 8;
const NEARLY_FULL = 0.9;

/** The bar is an SVG, because the browser's own rounded bar looks filled at zero. */
export function Meter({ label, text, value, max }: MeterProps) {
  const share = max === null ? 0 : max === 0 ? 1 : value / max;
  const state = share >= 1 ? "full" : share >= NEARLY_FULL ? "nearly full" : undefined;
  return (
    <div className="grid gap-1.5">
      <p className="flex items-baseline justify-between gap-x-3">
        <span className="min-w-0 font-medium">{label}</span>
        <span className="text-right text-small tabular-nums">
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

export const ofLimit = (used: string, limit: string | null): string =>
  limit === null ? `${used}, no limit` : `${used} of ${limit}`;
