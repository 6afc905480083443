import { organizationRoles } from "@keyhook/sdk";
import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { may } from "#core/access/may.ts";
import { listMembers } from "#core/accounts/organizations/members/list-members.ts";
import { ButtonLink } from "../../../_components/button.tsx";
import { EmptyState } from "../../../_components/empty-state.tsx";
import { FormMessage } from "../../../_components/form-message.tsx";
import { List } from "../../../_components/list.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { Pagination } from "../../../_components/pagination.tsx";
import { SearchForm } from "../../../_components/search-form.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { Select } from "../../../_components/select.client.tsx";
import {
  type OrganizationPage,
  type OrganizationParams,
  organizationPath,
  requireOrganizationPage,
} from "../../../_server/organization-page.ts";
import { noticeOf, type PageQuery, searchOf, textOf } from "../../../_server/page-query.ts";
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
  "handed-over": "The organization is handed over.",
  removed: "The member is removed, and what they had allowed apps to do here has ended.",
};

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Members · ${organization.fullName}` };
}

export default async function MembersPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, role, isManager } = await requireOrganizationPage(org);
  const isOpen = await may(person, "organization.list_members", { orgId: organization.id });
  if (!isOpen) return <ClosedMembers organization={organization} person={person} />;
  const path = organizationPath(organization.name, "members");
  const search = searchOf(query.search);
  const wanted = organizationRoles.find((each) => each === textOf(query.role));
  const members = await listMembers(person, organization.id, { text: search, role: wanted, page: Number(textOf(query.page)) });
  const hrefOf = (page: number) => {
    const filter = new URLSearchParams({ ...(search && { search }), ...(wanted && { role: wanted }), page: String(page) });
    return `${path}?${filter}`;
  };
  if (members.items.length === 0 && members.total > 0) redirect(hrefOf(Math.ceil(members.total / members.pageSize)));
  const isSearched = search !== "" || wanted !== undefined;
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader title="Members" description="Who is in the organization, and what each may do." />
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        {isManager && <InvitationsSection organization={organization} person={person} page={Number(textOf(query.invitations))} />}
        <div className="grid gap-3">
          {(isSearched || members.total > 5) && (
            <SearchForm action={path} label="Name or username" value={search}>
              <div className="min-w-36">
                <Select
                  name="role"
                  label="Role"
                  defaultValue={wanted ?? ""}
                  options={[{ value: "", label: "Any" }, ...organizationRoles.map((each) => ({ value: each, label: each }))]}
                />
              </div>
            </SearchForm>
          )}
          <SectionCard title={titleOf(members.total, isSearched)} isFlush>
            {members.total === 0 && (
              <EmptyState
                Icon={SearchX}
                title="Nobody is like that"
                action={<ButtonLink href={path}>Show all members</ButtonLink>}
              >
                A member is found by any part of the username or the full name.
              </EmptyState>
            )}
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
          <Pagination label="members" page={members.page} pageSize={members.pageSize} total={members.total} hrefOf={hrefOf} />
        </div>
        {role && <LeaveSection organization={organization} userId={person.userId} />}
      </div>
    </>
  );
}

/** For a member who has yet to meet what the organization asks: who else is in it is closed, leaving is not. */
function ClosedMembers({ organization, person }: Pick<OrganizationPage, "organization" | "person">) {
  return (
    <>
      <PageHeader title="Members" description="Who is in the organization, and what each may do." />
      <div className="grid gap-5">
        <LeaveSection organization={organization} userId={person.userId} />
      </div>
    </>
  );
}

function titleOf(total: number, isSearched: boolean): string {
  const count = total === 1 ? "1 member" : `${total.toLocaleString("en")} members`;
  return isSearched ? `${count} found` : count;
}
