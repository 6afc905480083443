import Link from "next/link";
import type { ReactNode } from "react";

export type Figure = Readonly<{
  label: string;
  value: ReactNode;
  /** A few words below the figure. */
  note?: ReactNode;
  /** The page that has more. */
  href?: string;
}>;

export type FiguresProps = Readonly<{ figures: readonly Figure[] }>;

/** Numbers at a glance, each with its name: as many beside one another as there is room for. */
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
            <span className="block break-words font-medium text-title tabular-nums">{value}</span>
            {note && <span className="block text-muted text-small">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
