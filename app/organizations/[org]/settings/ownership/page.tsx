import { organizationRoles } from "@keyhook/sdk";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { listSoleAdministrations } from "#core/accounts/organizations/list-sole-administrations.ts";
import { countOwned, type OwnedCounts } from "#core/hub/owners/count-owned.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { Field } from "../../../../_components/field.client.tsx";
import { PageHeader } from "../../../../_components/page-header.tsx";
import { ProveIdentity } from "../../../../_components/prove-identity.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { Select } from "../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { deleteOrganizationAction, transferOrganizationAction } from "./actions.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Ownership · ${organization.fullName}` };
}

const next = organizationRoles.filter((role) => role !== "admin").toReversed();

/** Who is in charge, and the end. */
export default async function OwnershipPage({ params }: Props) {
  const { organization, person, role, isManager } = await requireOrganizationPage((await params).org);
  const { id, name, fullName } = organization;
  if (!isManager) redirect(organizationPath(name));
  const page = organizationPath(name, "settings/ownership");
  const isRecent = isRecentlyAuthenticated(person);
  const [owned, sole] = await Promise.all([countOwned(id), listSoleAdministrations(person.userId)]);
  const isLastAdmin = sole.some((each) => each.name === name);
  return (
    <>
      <PageHeader title="Ownership" description="Handing the organization over, and deleting it." />
      <div className="grid grid-cols-1 gap-5">
        {role === "admin" && (
          <SectionCard
            title="Hand over"
            description={`Another member becomes its administrator, and you step down or leave. ${isLastAdmin ? "You are the only administrator now." : ""}`}
          >
            {owned.members === 1 ? (
              <p className="text-muted">Nobody else is in the organization yet. Invite somebody first, under Members.</p>
            ) : isRecent ? (
              <ActionForm
                action={transferOrganizationAction.bind(null, name)}
                values={{ afterwards: "write" }}
                className="grid max-w-reading gap-5"
              >
                <Field
                  name="username"
                  label="Username of the member"
                  hint="They are told by e-mail. Only they, or another administrator, can undo it."
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                />
                <Select
                  name="afterwards"
                  label="And you"
                  options={[
                    ...next.map((value) => ({ value, label: `stay with the role ${value}` })),
                    { value: "leave", label: "leave the organization" },
                  ]}
                />
                <div>
                  <SubmitButton variant="secondary">Hand over</SubmitButton>
                </div>
              </ActionForm>
            ) : (
              <ProveIdentity returnTo={page}>To hand it over, confirm that it is you.</ProveIdentity>
            )}
          </SectionCard>
        )}
        <SectionCard title="Delete organization" description="For good. Nobody, not even you, can take its name again." isDanger>
          <div className="grid gap-4">
            <p className="max-w-reading">With it go {whatGoes(owned)}.</p>
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
                  <li>Its repositories, with their discussions and files, and its collections and webhooks are deleted.</li>
                  <li>Its OAuth apps stop working for everybody; what was let into it, and exchanged for it, ends at once.</li>
                  <li>Members lose their roles. Their own accounts, and what they own, stay.</li>
                  <li>Its administrators are told by e-mail. The audit log is kept by the operator.</li>
                </ul>
              </ConfirmDestructive>
            ) : (
              <ProveIdentity returnTo={page}>To delete it, confirm that it is you.</ProveIdentity>
            )}
          </div>
        </SectionCard>
      </div>
    </>
  );
}

function whatGoes({ repos, collections, apps, webhooks, members }: OwnedCounts): string {
  const list = [
    counted(repos, "repository", "repositories"),
    counted(collections, "collection", "collections"),
    counted(apps, "OAuth app", "OAuth apps"),
    counted(webhooks, "webhook", "webhooks"),
    `the ${counted(members, "membership", "memberships")}`,
  ];
  return new Intl.ListFormat("en").format(list);
}

const counted = (count: number, one: string, many: string): string => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
