import type { Delegated } from "#core/webhooks/delegated.ts";

/** Of each kind so many are named. */
const NAMED_MAX = 10;

/** What an app or a token made and what stops with its access, for whoever is about to end that. Nothing where there is nothing. */
export function DelegatedList({ delegated, of }: Readonly<{ delegated: Delegated | undefined; of: "app" | "token" }>) {
  if (!delegated) return null;
  const { webhooks, schedules, relays, runs } = delegated;
  const inOrganization = (organization: string | null) => (organization === null ? "" : ` (${organization})`);
  const lines = [
    ...named(webhooks, ({ target, organization, isEnabled }) => {
      const state = isEnabled ? "" : ", disabled already";
      return `Webhook to ${target}${inOrganization(organization)}${state}`;
    }),
    ...named(schedules, ({ command, organization, isSuspended }) => {
      const state = isSuspended ? ", suspended already" : "";
      return `Scheduled job on ${command}${inOrganization(organization)}${state}`;
    }),
    ...named(relays, (name) => `Relay ${name}`),
    ...(runs > 0 ? [runs === 1 ? "1 job that waits or runs" : `${runs} jobs that wait or run`] : []),
  ];
  return (
    <div className="mt-3">
      <p>Revoking also stops what this {of} created:</p>
      <ul className="mt-1 list-disc pl-5">
        {lines.map((line) => (
          <li key={line} className="wrap-anywhere">
            {line}
          </li>
        ))}
      </ul>
      <p className="mt-1">You can enable webhooks and resume schedules again; they then act with your own rights.</p>
    </div>
  );
}

function named<Item>(items: readonly Item[], say: (item: Item) => string): string[] {
  const more = items.length - NAMED_MAX;
  return [...new Set(items.slice(0, NAMED_MAX).map(say)), ...(more > 0 ? [`and ${more} more`] : [])];
}
