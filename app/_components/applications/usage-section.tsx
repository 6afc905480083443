import Link from "next/link";
import type { AppUsage, AppUsageDay } from "#core/oauth/apps/app-usage.ts";
import type { RecentExchange } from "#core/oauth/exchange/list-exchanges.ts";
import { Chip } from "../chip.tsx";
import { List, ListRow } from "../list.tsx";
import { SectionCard } from "../page-layout.tsx";
import { RelativeTime } from "../relative-time.tsx";

const counts = [
  { of: "authorizations", label: "Authorizations", note: "Authorized sign-ins" },
  { of: "tokens", label: "Tokens", note: "Issued access tokens" },
  { of: "activeUsers", label: "Active users", note: "Users that the app acted for" },
] as const;

const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

type UsageSectionProps = Readonly<{ usage: AppUsage }>;

export function UsageSection({ usage }: UsageSectionProps) {
  const isUnused = counts.every(({ of }) => usage.total[of] === 0);
  return (
    <SectionCard title="Usage in the last 30 days">
      {isUnused ? (
        <p className="text-muted text-small">
          Nobody has used the app in this period. Authorized sign-ins and issued tokens appear here.
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

type UsageBarsProps = Readonly<{
  label: string;
  bars: ReadonlyArray<Readonly<{ name: string; count: number }>>;
}>;

// Sizes are in SVG units. A bar's height is in hundredths of the highest bar.
const STEP = 4;
const BAR = 3;
const HEIGHT = 100;
const SMALLEST = 4;

export function UsageBars({ label, bars }: UsageBarsProps) {
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <figure>
      <svg
        role="img"
        aria-label={`${label} by day, at most ${highest.toLocaleString("en")}`}
        viewBox={`0 0 ${bars.length * STEP - (STEP - BAR)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-16 w-full border-line border-b"
      >
        {bars.map(({ name, count }, at) => {
          const height = count === 0 ? 0 : Math.max(SMALLEST, (count / highest) * HEIGHT);
          return (
            <g key={name}>
              <title>{`${name}: ${count.toLocaleString("en")}`}</title>
              <rect x={at * STEP} y={0} width={STEP} height={HEIGHT} className="fill-transparent" />
              <rect x={at * STEP} y={HEIGHT - height} width={BAR} height={height} className="fill-ink/75" />
            </g>
          );
        })}
      </svg>
      <figcaption className="mt-1 flex justify-between text-fine text-muted">
        <span>{bars[0]?.name}</span>
        <span>today</span>
      </figcaption>
    </figure>
  );
}

type RecentExchangesProps = Readonly<{
  exchanges: readonly RecentExchange[];
  auditLog: string;
}>;

export function RecentExchanges({ exchanges, auditLog }: RecentExchangesProps) {
  if (exchanges.length === 0) return <p className="text-muted text-small">No exchanges yet. They will appear here.</p>;
  return (
    <>
      <div className="rounded-control border border-line">
        <List label="Latest exchanges">
          {exchanges.map(({ id, at, isRefused, subject, scopes, reason, ip }) => (
            <ListRow
              key={id}
              title={
                <>
                  <bdi className="wrap-anywhere min-w-0">{subject || "(no address)"}</bdi>
                  {isRefused && <Chip tone="bad">Refused</Chip>}
                </>
              }
              meta={
                <>
                  {isRefused ? (reasons[reason ?? ""] ?? "refused") : scopes.join(" ")}
                  {ip && ` · from ${ip}`}
                </>
              }
              trailing={
                <span className="text-muted text-small">
                  <RelativeTime at={at} />
                </span>
              }
            />
          ))}
        </List>
      </div>
      <p className="text-small">
        <Link prefetch={false} href={auditLog} className="link">
          View all exchanges in the audit log
        </Link>
      </p>
    </>
  );
}

/** Only the organization's administrators see these reasons. The program gets fewer details (S91). */
const reasons: Record<string, string> = {
  not_authenticated_by_basic: "the secret was not sent by HTTP Basic",
  no_privilege: "the app lacks the token-exchange privilege",
  no_plan: "the organization has neither the Enterprise nor the Plus plan",
  blocked_by_organization: "the organization has blocked the app",
  malformed_request: "the request was invalid; the response has details",
  invalid_actor: "the actor token was not valid",
  not_a_member: "no member has this e-mail address",
  email_not_verified: "the member has not verified this e-mail address",
  user_disabled: "the member's account is disabled",
  requirements_not_met: "the member does not meet the organization's sign-in requirements, such as a second step",
  unknown_target: "the token was requested for another server",
  invalid_scope: "the request had a scope that the app does not have",
  invalid_dpop_proof: "the proof of possession (DPoP) was missing or invalid",
};
