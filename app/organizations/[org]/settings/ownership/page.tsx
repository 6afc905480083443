import { organizationRoles } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { listSoleAdministrations } from "#core/accounts/organizations/find-organization.ts";
import { listMembers } from "#core/accounts/organizations/members.ts";
import { counted } from "#core/counted.ts";
import { countOwned, type OwnedCounts } from "#core/hub/owners/delete-owner.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { Field, Select } from "../../../../_components/fields.client.tsx";
import { roleNames } from "../../../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../../../_components/page-layout.tsx";
import { ProveIdentity } from "../../../../_components/prove-identity.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../../_server/organization-page.ts";
import { deleteOrganizationAction, transferOrganizationAction } from "../../../actions.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export const generateMetadata = organizationTitle("Ownership");

const next = organizationRoles.filter((role) => role !== "admin").toReversed();

export default async function OwnershipPage({ params }: Props) {
  const { organization, person, role, isManager } = await requireOrganizationPage((await params).org);
  const { id, name, fullName } = organization;
  if (!isManager) redirect(organizationPath(name));
  const page = organizationPath(name, "settings/ownership");
  const isRecent = isRecentlyAuthenticated(person);
  const [owned, sole, members] = await Promise.all([
    countOwned(id),
    listSoleAdministrations(person.userId),
    role === "admin" ? listMembers(person, id, { pageSize: 100 }) : undefined,
  ]);
  const isLastAdmin = sole.some((each) => each.name === name);
  return (
    <PageColumn title="Ownership" description="Transfer or delete the organization.">
      {role === "admin" && (
        <SectionCard
          title="Transfer"
          description={`Another member becomes an administrator, and you change your role or leave. ${isLastAdmin ? "You are the only administrator." : ""}`}
        >
          {owned.members === 1 ? (
            <p className="text-muted">The organization has no other members yet. Invite someone first, under Members.</p>
          ) : isRecent ? (
            <ActionForm
              action={transferOrganizationAction.bind(null, name)}
              values={{ afterwards: "write" }}
              className="grid max-w-reading gap-5"
            >
              <Field
                name="username"
                label="New administrator"
                hint={`A member's username. ${isMailSent() ? "They are notified by e-mail. " : ""}Only they, or another administrator, can undo this.`}
                list="members"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
              />
              <datalist id="members">
                {members?.items
                  .filter(({ userId }) => userId !== person.userId)
                  .map(({ userId, username, fullName }) => (
                    <option key={userId} value={username}>
                      {fullName}
                    </option>
                  ))}
              </datalist>
              <Select
                name="afterwards"
                label="Your new role"
                options={[
                  ...next.map((value) => ({ value, label: roleNames[value] })),
                  { value: "leave", label: "None: leave the organization" },
                ]}
              />
              <SubmitButton variant="secondary">Transfer organization</SubmitButton>
            </ActionForm>
          ) : (
            <ProveIdentity returnTo={page}>Confirm your identity to transfer the organization.</ProveIdentity>
          )}
        </SectionCard>
      )}
      <SectionCard title="Deletion" description="This cannot be undone. Nobody can use the organization's name again." isDanger>
        <div className="grid gap-4">
          <p className="max-w-reading">This also deletes {describeOwned(owned)}.</p>
          {isRecent ? (
            <ConfirmDestructive
              action={deleteOrganizationAction.bind(null, name)}
              trigger="Delete this organization"
              title={
                <>
                  Delete <bdi>{fullName}</bdi>?
                </>
              }
              confirm={`Delete ${name}`}
              phrase={name}
            >
              <ul className="grid list-disc gap-1 pl-4">
                <li>Its repositories, with their discussions and files, and its collections, webhooks and jobs are deleted.</li>
                <li>
                  Its OAuth apps stop working for everyone. Exchanged tokens are revoked, and other apps lose access to it
                  immediately.
                </li>
                <li>Members lose their roles. Their accounts and everything they own are kept.</li>
                <li>{isMailSent() && "Its administrators are notified by e-mail. "}The operator keeps the audit log.</li>
              </ul>
            </ConfirmDestructive>
          ) : (
            <ProveIdentity returnTo={page}>Confirm your identity to delete the organization.</ProveIdentity>
          )}
        </div>
      </SectionCard>
    </PageColumn>
  );
}

function describeOwned({ repos, collections, apps, webhooks, members }: OwnedCounts): string {
  const list = [
    repos > 0 && counted(repos, "repository", "repositories"),
    collections > 0 && counted(collections, "collection", "collections"),
    apps > 0 && counted(apps, "OAuth app", "OAuth apps"),
    webhooks > 0 && counted(webhooks, "webhook", "webhooks"),
    counted(members, "membership", "memberships"),
  ].filter((part) => part !== false);
  return new Intl.ListFormat("en").format(list);
}
