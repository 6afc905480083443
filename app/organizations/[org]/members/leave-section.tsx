import type { Organization } from "#core/accounts/organizations/find-organization.ts";
import { ConfirmDestructive } from "../../../_components/confirm-destructive.client.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { leaveAction } from "./actions.ts";

export function LeaveSection({ organization: { name, fullName } }: Readonly<{ organization: Organization }>) {
  return (
    <SectionCard title="Leave" description="To come back you need a new invitation." isDanger>
      <ConfirmDestructive
        action={leaveAction.bind(null, name)}
        trigger="Leave this organization"
        title={
          <>
            Leave <bdi>{fullName}</bdi>?
          </>
        }
        confirm={`Leave ${fullName}`}
      >
        You no longer see what is private to it, and apps that you let into it lose their access there.
      </ConfirmDestructive>
    </SectionCard>
  );
}
