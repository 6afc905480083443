import { organizationRoles } from "@keyhook/sdk";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findMember, type Member } from "#core/accounts/organizations/members.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../../../_components/avatar.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { ChoiceRow } from "../../../../_components/fields.client.tsx";
import { FormButtons } from "../../../../_components/form-buttons.tsx";
import { roleNames, roleSentences } from "../../../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../../../_components/page-layout.tsx";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { changeRoleAction, removeMemberAction } from "../../../actions.ts";

type Props = Readonly<{ params: Promise<{ org: string; username: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Member ${(await params).username}` };
}

export default async function MemberPage({ params, searchParams }: Props) {
  const [{ org, username }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  const member = isManager ? await findMember(person, organization.id, username) : undefined;
  if (!member) notFound();
  const name = member.fullName || member.username;
  return (
    <PageColumn
      title={
        <span className="flex items-center gap-3">
          <Avatar name={name} src={avatarSrc(member.username, member.avatarId)} size="lg" />
          <bdi className="min-w-0 break-words">{name}</bdi>
        </span>
      }
      trail={[{ href: organizationPath(organization.name, "members"), label: "Members" }]}
      actions={<ButtonLink href={`/${member.username}`}>View profile</ButtonLink>}
    >
      {textOf(query.confirm) === "admin" && member.role !== "admin" ? (
        <ConfirmAdminSection organization={organization} member={member} name={name} />
      ) : (
        <RoleSection organizationName={organization.name} member={member} />
      )}
      {member.userId !== person.userId && <RemoveSection organization={organization} member={member} name={name} />}
    </PageColumn>
  );
}

function RoleSection({ organizationName, member }: Readonly<{ organizationName: string; member: Member }>) {
  return (
    <SectionCard title="Role" description="Applies immediately, including to this member's apps and tokens.">
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
              label={roleNames[role]}
              hint={`May ${roleSentences[role]}.`}
            />
          ))}
        </fieldset>
        <SubmitButton>Change role</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

/** The new administrator could remove the user who made the change. */
function ConfirmAdminSection({ organization, member, name }: RemoveSectionProps) {
  return (
    <SectionCard
      title={
        <>
          Make <bdi>{name}</bdi> an administrator?
        </>
      }
      description={`Their current role is ${roleNames[member.role]}.`}
    >
      <ActionForm action={changeRoleAction.bind(null, organization.name)} className="grid max-w-reading gap-5">
        <input type="hidden" name="userId" value={member.userId} />
        <input type="hidden" name="role" value="admin" />
        <input type="hidden" name="confirmed" value="admin" />
        <p>
          Administrators of <bdi>{organization.fullName}</bdi> can invite and remove members, including other administrators,
          decide which apps are allowed, rotate the secrets of its OAuth apps, and delete the organization.
        </p>
        <FormButtons isGuarded cancelHref={organizationPath(organization.name, "members")}>
          Make administrator
        </FormButtons>
      </ActionForm>
    </SectionCard>
  );
}

type RemoveSectionProps = Readonly<{ organization: Readonly<{ name: string; fullName: string }>; member: Member; name: string }>;

function RemoveSection({ organization, member, name }: RemoveSectionProps) {
  return (
    <SectionCard title="Removal" isDanger>
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
        They no longer see the organization's private content. Apps that they authorized for the organization lose their access to
        it. The member's account is kept.
      </ConfirmDestructive>
    </SectionCard>
  );
}
