import Link from "next/link";
import type { OrganizationDemand } from "#core/accounts/second-step/find-second-step.ts";
import { Chip } from "../../_components/chip.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { SectionCard } from "../../_components/section-card.tsx";

/** What organizations ask of how their members sign in, and whether it is met. */
export function DemandsSection({ demands }: Readonly<{ demands: readonly OrganizationDemand[] }>) {
  return (
    <SectionCard
      title="What your organizations ask for"
      description="An organization stays closed to its members until they meet this."
      isFlush
    >
      {demands.length === 0 ? (
        <p className="px-4 py-5 text-muted sm:px-5">None of your organizations asks for more than your password.</p>
      ) : (
        <List label="What your organizations ask for">
          {demands.map((demand) => (
            <ListRow
              key={demand.orgId}
              title={
                <>
                  <Link prefetch={false} className="link" href={`/${demand.name}`}>
                    {demand.fullName || demand.name}
                  </Link>
                  {demand.unmet.length === 0 ? <Chip tone="good">Met</Chip> : <Chip tone="bad">Closed to you</Chip>}
                </>
              }
              meta={sentences(demand)}
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function sentences({ asksForSecondStep, asksForProvider, unmet }: OrganizationDemand): string {
  const parts = [
    asksForSecondStep &&
      (unmet.includes("mfa")
        ? "Asks for a second step: add a passkey or an authenticator app above."
        : "Asks for a second step, which you have."),
    asksForProvider &&
      (unmet.includes("sso")
        ? "Asks you to sign in with its own provider: do so on its page."
        : "Asks you to sign in with its own provider, which you did."),
  ];
  return parts.filter(Boolean).join(" ");
}
