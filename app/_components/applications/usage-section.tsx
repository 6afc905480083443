import type { AppUsage, AppUsageDay } from "#core/oauth/apps/app-usage.ts";
import { SectionCard } from "../section-card.tsx";
import { UsageBars } from "./usage-bars.tsx";

const counts = [
  { of: "authorizations", label: "Authorizations", note: "Sign-ins that were allowed" },
  { of: "tokens", label: "Tokens", note: "Access tokens that were issued" },
  { of: "activeUsers", label: "Active users", note: "People the app acted for" },
] as const;

const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

export type UsageSectionProps = Readonly<{ usage: AppUsage }>;

/** What the app was used for, day by day. */
export function UsageSection({ usage }: UsageSectionProps) {
  const isUnused = counts.every(({ of }) => usage.total[of] === 0);
  return (
    <SectionCard title="Use in the last 30 days">
      {isUnused ? (
        <p className="text-muted text-small">
          Nobody has used the app yet. Sign in with one of the examples above, and it shows here.
        </p>
      ) : (
        <>
          <div className="grid gap-x-8 gap-y-6 sm:grid-cols-3">
            {counts.map(({ of, label, note }) => (
              <div key={of}>
                <p className="font-semibold text-title tabular-nums">{usage.total[of].toLocaleString("en")}</p>
                <p className="mb-3 text-muted text-small" title={note}>
                  {label}
                </p>
                <UsageBars
                  label={label}
                  bars={usage.days.map((day) => ({ name: dayName.format(new Date(day.day)), count: day[of] }))}
                />
              </div>
            ))}
          </div>
          <details className="mt-5">
            <summary className="link w-fit text-small">As a table</summary>
            <UsageTable days={usage.days} />
          </details>
        </>
      )}
    </SectionCard>
  );
}

function UsageTable({ days }: Readonly<{ days: readonly AppUsageDay[] }>) {
  return (
    <table className="mt-3 w-full text-small tabular-nums">
      <thead>
        <tr className="text-left text-muted">
          <th className="py-1 font-normal">Day (UTC)</th>
          {counts.map(({ of, label }) => (
            <th key={of} className="py-1 pl-3 text-right font-normal">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row" className="py-1 text-left font-normal">
              {dayName.format(new Date(day.day))}
            </th>
            {counts.map(({ of }) => (
              <td key={of} className="py-1 pl-3 text-right">
                {day[of].toLocaleString("en")}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
