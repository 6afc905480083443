import { organizationRoles } from "@keyhook/sdk";
import { Mail, SearchX } from "lucide-react";
import Link from "next/link";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { listSoleAdministrations, type Organization } from "#core/accounts/organizations/find-organization.ts";
import { listInvitations, type OpenInvitation } from "#core/accounts/organizations/invitations.ts";
import { listMembers, type Member } from "#core/accounts/organizations/members.ts";
import { counted } from "#core/counted.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../../_components/avatar.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { Chip } from "../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../_components/details-form.client.tsx";
import { Field, Select } from "../../../_components/fields.client.tsx";
import { EmptyState, List, ListRow, PagedList, Pagination } from "../../../_components/list.tsx";
import { roleNames } from "../../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../_components/relative-time.tsx";
import { Filter, SearchForm } from "../../../_components/search-form.tsx";
import {
  type OrganizationPage,
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../_server/organization-page.ts";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../../_server/page-query.ts";
import { inviteAction, leaveAction, resendInvitationAction, revokeInvitationAction } from "../../actions.ts";
import { InvitationLink } from "./invitation-link.client.tsx";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

const notices: Record<string, string> = {
  created: "The organization is ready. Invite other members.",
  invited: "Invitation sent. It expires in 7 days.",
  resent: "Invitation sent again with a new link. The old link no longer works.",
  revoked: "Invitation revoked. Its link no longer works.",
  "role-changed": "Role changed.",
  "handed-over": "Organization transferred.",
  removed: "Member removed. Apps that they authorized for the organization have lost their access.",
};

export const generateMetadata = organizationTitle("Members");

export default async function MembersPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, role, isManager } = await requireOrganizationPage(org);
  const isOpen = await may(person, "organization.list_members", { orgId: organization.id });
  if (!isOpen) return <ClosedMembers organization={organization} person={person} />;
  const path = organizationPath(organization.name, "members");
  const search = searchOf(query.search);
  const wanted = organizationRoles.find((each) => each === textOf(query.role));
  const members = await listMembers(person, organization.id, { text: search, role: wanted, page: Number(textOf(query.page)) });
  const isSearched = search !== "" || wanted !== undefined;
  return (
    <PageColumn
      title="Members"
      description="The organization's members and their roles."
      notice={noticeOf(notices, query.notice)}
    >
      {isManager && <InvitationsSection organization={organization} person={person} page={Number(textOf(query.invitations))} />}
      <div className="grid gap-3">
        {(isSearched || members.total > 5) && (
          <SearchForm action={path} label="Name or username" value={search}>
            <Filter
              name="role"
              label="Role"
              value={wanted}
              options={organizationRoles.map((each) => ({ value: each, label: roleNames[each] }))}
            />
          </SearchForm>
        )}
        <PagedList
          section={{ title: `${counted(members.total, "member")}${isSearched ? " found" : ""}` }}
          label="Members"
          things="members"
          list={members}
          hrefOf={(page) => hrefWith(path, { search, role: wanted, page })}
          row={(member) => (
            <MemberRow
              key={member.userId}
              member={member}
              isOneself={member.userId === person.userId}
              manageHref={isManager ? organizationPath(organization.name, `members/${member.username}`) : undefined}
            />
          )}
          empty={
            <EmptyState Icon={SearchX} title="No members match" action={<ButtonLink href={path}>Show all members</ButtonLink>}>
              Enter part of a username or full name.
            </EmptyState>
          }
        />
      </div>
      {role && <LeaveSection organization={organization} userId={person.userId} />}
    </PageColumn>
  );
}

/** A member who does not meet the sign-in requirements cannot see the list, but can leave. */
function ClosedMembers({ organization, person }: Pick<OrganizationPage, "organization" | "person">) {
  return (
    <PageColumn title="Members" description="The organization's members and their roles.">
      <LeaveSection organization={organization} userId={person.userId} />
    </PageColumn>
  );
}

type MemberRowProps = Readonly<{
  member: Member;
  isOneself: boolean;
  manageHref: string | undefined;
}>;

function MemberRow({ member, isOneself, manageHref }: MemberRowProps) {
  const name = member.fullName || member.username;
  return (
    <ListRow
      leading={<Avatar name={name} src={avatarSrc(member.username, member.avatarId)} />}
      title={
        <>
          <Link prefetch={false} href={`/${member.username}`} className="link min-w-0 break-words">
            <bdi>{name}</bdi>
          </Link>
          {isOneself && <Chip>You</Chip>}
          {member.isDisabled && <Chip tone="warn">Account disabled</Chip>}
        </>
      }
      meta={
        <>
          {member.username} · <strong className="text-ink">{roleNames[member.role]}</strong> · joined{" "}
          <RelativeTime at={member.memberSince} />
        </>
      }
      trailing={
        manageHref && (
          <ButtonLink href={manageHref} size="small">
            Manage<span className="sr-only"> {name}</span>
          </ButtonLink>
        )
      }
    />
  );
}

type LeaveSectionProps = Readonly<{ organization: Organization; userId: string }>;

async function LeaveSection({ organization: { name, fullName }, userId }: LeaveSectionProps) {
  const isLastAdmin = (await listSoleAdministrations(userId)).some((each) => each.name === name);
  return (
    <SectionCard title="Your membership" description={!isLastAdmin && "To come back, you need a new invitation."} isDanger>
      {isLastAdmin ? (
        <p className="max-w-reading">
          You are the last administrator, so you cannot leave. Make another member an administrator, or{" "}
          <Link prefetch={false} href={organizationPath(name, "settings/ownership")} className="link">
            transfer or delete the organization
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
            <li>You and your access tokens can no longer see its private content.</li>
            <li>
              Apps that you authorized for it lose their access to it. If you join again, only apps with access to all current and
              future organizations get it back.
            </li>
            <li>Open invitations that you sent stop working.</li>
            <li>What you created stays with the organization. Your comments stay, with your name.</li>
          </ul>
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}

type InvitationsSectionProps = Readonly<{
  organization: Organization;
  person: Person;
  page: number;
}>;

const roleOptions = organizationRoles.map((role) => ({ value: role, label: roleNames[role] }));

async function InvitationsSection({ organization, person, page }: InvitationsSectionProps) {
  const open = await listInvitations(person, organization.id, { page });
  const path = organizationPath(organization.name, "members");
  return (
    <div>
      <SectionCard
        title="New invitation"
        description={
          isMailSent()
            ? "The invited person gets a link by e-mail, and needs no account here yet."
            : "You get a link to pass on, because this server does not send e-mail. The invited person needs no account here yet."
        }
        isFlush
      >
        <div className="px-4 py-5 sm:px-5">
          <ActionForm action={inviteAction.bind(null, organization.name)} values={{ role: "read" }}>
            <InvitationLink />
            <div className="grid items-start gap-5 sm:grid-cols-2">
              <Field name="email" type="email" label="E-mail" autoComplete="off" autoCapitalize="none" spellCheck={false} />
              <Select
                name="role"
                label="Role"
                options={roleOptions}
                hint="Read: view · Contributor: create · Write: edit · Admin: manage"
              />
            </div>
            <SubmitButton>{isMailSent() ? "Send invitation" : "Create invitation"}</SubmitButton>
          </ActionForm>
        </div>
        {open.items.length > 0 && (
          <section aria-labelledby="open-invitations" className="border-line border-t">
            <h3 id="open-invitations" className="px-4 pt-3.5 pb-1 text-fine text-muted sm:px-5">
              {counted(open.total, "open invitation")}
            </h3>
            <List>
              {open.items.map((invitation) => (
                <InvitationRow key={invitation.id} invitation={invitation} organizationName={organization.name} />
              ))}
            </List>
          </section>
        )}
      </SectionCard>
      <Pagination
        label="open invitations"
        page={open.page}
        pageSize={open.pageSize}
        total={open.total}
        hrefOf={(at) => `${path}?invitations=${at}`}
      />
    </div>
  );
}

type InvitationRowProps = Readonly<{ invitation: OpenInvitation; organizationName: string }>;

function InvitationRow({ invitation, organizationName }: InvitationRowProps) {
  const { id, email, role, createdAt, expiresAt, isExpired } = invitation;
  return (
    <ListRow
      leading={<Mail className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          <span className="min-w-0 break-all">{email}</span>
          {isExpired && <Chip tone="warn">Expired</Chip>}
        </>
      }
      meta={
        <>
          as <strong className="text-ink">{roleNames[role]}</strong> · created <RelativeTime at={createdAt} /> ·{" "}
          {isExpired ? "expired" : "expires"} <RelativeTime at={expiresAt} />
        </>
      }
    >
      <div className="mt-2 flex flex-wrap items-start gap-2 sm:ml-8">
        <ActionForm action={resendInvitationAction.bind(null, organizationName)} className="grid min-w-0 gap-2">
          <InvitationLink />
          <input type="hidden" name="invitationId" value={id} />
          <SubmitButton variant="secondary" size="small">
            {isMailSent() ? "Send again" : "Create new link"}
            <span className="sr-only">
              {" "}
              {isMailSent() ? "to" : "for"} {email}
            </span>
          </SubmitButton>
        </ActionForm>
        <ConfirmDestructive
          action={revokeInvitationAction.bind(null, organizationName)}
          trigger="Revoke"
          title={`Revoke the invitation to ${email}?`}
          confirm="Revoke invitation"
          size="small"
        >
          <input type="hidden" name="invitationId" value={id} />
          The link stops working.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
