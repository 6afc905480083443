import { counted } from "#core/counted.ts";
import type { Delegated } from "#core/webhooks/delegated.ts";

export function DelegatedList({ delegated, of }: Readonly<{ delegated: Delegated | undefined; of: "app" | "token" }>) {
  if (!delegated) return null;
  const { webhooks, schedules, relays, runs, more } = delegated;
  const inOrganization = (organization: string | null) => (organization === null ? "" : ` (${organization})`);
  const lines = [
    ...named(webhooks, [more.webhooks, "webhook"], ({ target, organization, isEnabled }) => {
      const state = isEnabled ? "" : ", already disabled";
      return `Webhook: ${target}${inOrganization(organization)}${state}`;
    }),
    ...named(schedules, [more.schedules, "schedule"], ({ command, organization, isSuspended }) => {
      const state = isSuspended ? ", already suspended" : "";
      return `Schedule: ${command}${inOrganization(organization)}${state}`;
    }),
    ...relays.map((name) => `Relay ${name}`),
    ...(runs > 0 ? [counted(runs, "waiting or running job")] : []),
  ];
  return (
    <div className="mt-3">
      <p>Revoking also stops what this {of} created or last changed:</p>
      <ul className="mt-1 list-disc pl-5">
        {lines.map((line) => (
          <li key={line} className="wrap-anywhere">
            {line}
          </li>
        ))}
      </ul>
      {webhooks.length + schedules.length > 0 && (
        <p className="mt-1">You can enable webhooks and resume schedules again; they then act with your own permissions.</p>
      )}
    </div>
  );
}

function named<Item>(items: readonly Item[], [more, thing]: [number, string], say: (item: Item) => string): string[] {
  return [...new Set(items.map(say)), ...(more > 0 ? [counted(more, `more ${thing}`)] : [])];
}
