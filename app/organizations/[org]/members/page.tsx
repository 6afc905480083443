import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { may } from "#core/access/may.ts";
import { demands } from "#core/access/refused.ts";
import { listMembers } from "#core/accounts/organizations/members/list-members.ts";
import { FormMessage } from "../../../_components/form-message.tsx";
import { List } from "../../../_components/list.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { Pagination } from "../../../_components/pagination.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import {
  type OrganizationPage,
  type OrganizationParams,
  organizationPath,
  requireOrganizationPage,
} from "../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { InvitationsSection } from "./invitations-section.tsx";
import { LeaveSection } from "./leave-section.tsx";
import { MemberRow } from "./member-row.tsx";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  created: "The organization is ready. Invite the others.",
  invited: "The invitation is on its way. It is good for 7 days.",
  resent: "The invitation was sent again, with a fresh link. The old one no longer works.",
  revoked: "The invitation is taken back. Its link no longer works.",
  "role-changed": "The role is changed. It holds from now on.",
  removed: "The member is removed, and what they had allowed apps to do here has ended.",
};

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Members · ${organization.fullName}` };
}

export default async function MembersPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, role, isManager, restrictions } = await requireOrganizationPage(org);
  const isOpen = await may(person, "organization.list_members", { orgId: organization.id });
  if (!isOpen) return <ClosedMembers organization={organization} restrictions={restrictions} />;
  const path = organizationPath(organization.name, "members");
  const members = await listMembers(person, organization.id, { page: Number(textOf(query.page)) });
  if (members.items.length === 0 && members.total > 0) redirect(path);
  const notice = notices[textOf(query.notice)];
  return (
    <>
      <PageHeader title="Members" description="Who is in the organization, and what each may do." />
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        {isManager && <InvitationsSection organization={organization} person={person} page={Number(textOf(query.invitations))} />}
        <div>
          <SectionCard title={members.total === 1 ? "1 member" : `${members.total.toLocaleString("en")} members`} isFlush>
            <List>
              {members.items.map((member) => (
                <MemberRow
                  key={member.userId}
                  member={member}
                  isOneself={member.userId === person.userId}
                  manageHref={isManager ? organizationPath(organization.name, `members/${member.username}`) : undefined}
                />
              ))}
            </List>
          </SectionCard>
          <Pagination
            label="members"
            page={members.page}
            pageSize={members.pageSize}
            total={members.total}
            hrefOf={(page) => `${path}?page=${page}`}
          />
        </div>
        {role && <LeaveSection organization={organization} />}
      </div>
    </>
  );
}

/** For a member who has yet to meet what the organization asks: who else is in it is closed, leaving is not. */
function ClosedMembers({ organization, restrictions }: Pick<OrganizationPage, "organization" | "restrictions">) {
  return (
    <>
      <PageHeader title="Members" description="Who is in the organization, and what each may do." />
      <div className="grid gap-5">
        {restrictions.map((restriction) => (
          <FormMessage key={restriction}>{demands[restriction]}</FormMessage>
        ))}
        <LeaveSection organization={organization} />
      </div>
    </>
  );
}
