import { organizationRoles } from "@keyhook/sdk";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findMember } from "#core/accounts/organizations/members/find-member.ts";
import type { Member } from "#core/accounts/organizations/members/list-members.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { Avatar } from "../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../_components/avatar-src.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { ChoiceRow } from "../../../../_components/choice-row.client.tsx";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { PageHeader } from "../../../../_components/page-header.tsx";
import { roleSentences } from "../../../../_components/role-sentences.ts";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { changeRoleAction, removeMemberAction } from "../actions.ts";

type Props = Readonly<{ params: Promise<{ org: string; username: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Member ${(await params).username}` };
}

/** One member, for those who may change what others may do. */
export default async function MemberPage({ params, searchParams }: Props) {
  const [{ org, username }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  const member = isManager ? await findMember(person, organization.id, username) : undefined;
  if (!member) notFound();
  const name = member.fullName || member.username;
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <Avatar name={name} src={avatarSrc(member.username, member.avatarId)} size="lg" />
            <bdi className="min-w-0 break-words">{name}</bdi>
          </span>
        }
        trail={[{ href: organizationPath(organization.name, "members"), label: "Members" }]}
        actions={<ButtonLink href={`/${member.username}`}>View profile</ButtonLink>}
      />
      <div className="grid gap-5">
        {textOf(query.confirm) === "admin" && member.role !== "admin" ? (
          <ConfirmAdminSection organization={organization} member={member} name={name} />
        ) : (
          <RoleSection organizationName={organization.name} member={member} />
        )}
        {member.userId !== person.userId && <RemoveSection organization={organization} member={member} name={name} />}
      </div>
    </>
  );
}

function RoleSection({ organizationName, member }: Readonly<{ organizationName: string; member: Member }>) {
  return (
    <SectionCard title="Role" description="It holds at once, also for the apps and tokens of this member.">
      <ActionForm
        action={changeRoleAction.bind(null, organizationName)}
        values={{ role: member.role }}
        className="grid max-w-reading gap-5"
      >
        <input type="hidden" name="userId" value={member.userId} />
        <input type="hidden" name="username" value={member.username} />
        <input type="hidden" name="before" value={member.role} />
        <fieldset className="grid gap-2">
          <legend className="sr-only">Role of {member.username}</legend>
          {organizationRoles.map((role) => (
            <ChoiceRow
              key={role}
              type="radio"
              name="role"
              value={role}
              isBoxed
              label={role}
              hint={`May ${roleSentences[role]}.`}
            />
          ))}
        </fieldset>
        <div>
          <SubmitButton>Change role</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

/** Giving somebody everything is asked twice: they could remove whoever gave it. */
function ConfirmAdminSection({ organization, member, name }: RemoveSectionProps) {
  return (
    <SectionCard
      title={
        <>
          Make <bdi>{name}</bdi> an administrator?
        </>
      }
      description={`They are ${member.role} now.`}
    >
      <ActionForm action={changeRoleAction.bind(null, organization.name)} className="grid max-w-reading gap-5">
        <input type="hidden" name="userId" value={member.userId} />
        <input type="hidden" name="role" value="admin" />
        <input type="hidden" name="confirmed" value="admin" />
        <p>
          Administrators of <bdi>{organization.fullName}</bdi> invite and remove members, you too, decide which apps are let in,
          see the secrets of its OAuth apps once they are made anew, and can delete the organization.
        </p>
        <div className="flex flex-wrap gap-3">
          <SubmitButton>Make administrator</SubmitButton>
          <ButtonLink variant="quiet" href={organizationPath(organization.name, "members")}>
            Cancel
          </ButtonLink>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

type RemoveSectionProps = Readonly<{ organization: Readonly<{ name: string; fullName: string }>; member: Member; name: string }>;

function RemoveSection({ organization, member, name }: RemoveSectionProps) {
  return (
    <SectionCard title="Remove" isDanger>
      <ConfirmDestructive
        action={removeMemberAction.bind(null, organization.name)}
        trigger="Remove this member"
        title={
          <>
            Remove <bdi>{name}</bdi> from <bdi>{organization.fullName}</bdi>?
          </>
        }
        confirm={`Remove ${name}`}
      >
        <input type="hidden" name="userId" value={member.userId} />
        They no longer see what is private to the organization, and apps that they let into it lose their access there. Their own
        account stays.
      </ConfirmDestructive>
    </SectionCard>
  );
}
