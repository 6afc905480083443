import Link from "next/link";
import type { Organization } from "#core/accounts/organizations/find-organization.ts";
import { listSoleAdministrations } from "#core/accounts/organizations/list-sole-administrations.ts";
import { ConfirmDestructive } from "../../../_components/confirm-destructive.client.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { organizationPath } from "../../../_server/organization-page.ts";
import { leaveAction } from "./actions.ts";

export type LeaveSectionProps = Readonly<{ organization: Organization; userId: string }>;

export async function LeaveSection({ organization: { name, fullName }, userId }: LeaveSectionProps) {
  const isLastAdmin = (await listSoleAdministrations(userId)).some((each) => each.name === name);
  return (
    <SectionCard title="Leave" description="To come back you need a new invitation." isDanger>
      {isLastAdmin ? (
        <p className="max-w-reading">
          You are the last administrator, so you cannot leave. Make another member one, or{" "}
          <Link prefetch={false} href={organizationPath(name, "settings/ownership")} className="link">
            hand the organization over or delete it
          </Link>
          .
        </p>
      ) : (
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
          <ul className="grid list-disc gap-1 pl-4">
            <li>You no longer see what is private to it, with your access tokens neither.</li>
            <li>Apps that you let into it lose their access there, for good: you would be asked again.</li>
            <li>Invitations that you sent and nobody has answered stop working.</li>
            <li>What you made there stays the organization's. What you said stays, with your name.</li>
          </ul>
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}
