import { Building2 } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { listOrganizations, type OrganizationOfUser } from "#core/accounts/organizations/find-organization.ts";
import { Avatar, avatarSrc } from "../_components/avatar.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { EmptyState, ListRow, PagedList } from "../_components/list.tsx";
import { roleNames } from "../_components/organization-wording.ts";
import { FormMessage, PageHeader } from "../_components/page-layout.tsx";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { organizationPath } from "../_server/organization-page.ts";
import { hrefWith, noticeOf, type PageQuery, textOf } from "../_server/page-query.ts";
import { requireSession } from "../_server/session.ts";

export const metadata: Metadata = { title: "Organizations" };

const PAGE_SIZE = 30;

const notices = {
  left: "You left the organization. Apps lost the access to it that you gave them.",
  deleted: "Organization deleted, with everything that it owned.",
};

export default async function OrganizationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const { userId } = await requireSession("/organizations");
  const query = await searchParams;
  const organizations = await listOrganizations(userId);
  const page = Math.max(1, Math.floor(Number(textOf(query.page))) || 1);
  const shown = { items: organizations.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), page, pageSize: PAGE_SIZE };
  const notice = noticeOf(notices, query.notice);
  const create = (
    <ButtonLink variant="primary" href="/organizations/new">
      New organization
    </ButtonLink>
  );
  return (
    <SiteFrame width="page">
      <PageHeader
        title="Organizations"
        description="Shared repositories, apps and webhooks."
        actions={organizations.length > 0 && create}
      />
      {notice && (
        <FormMessage tone="good" className="mb-5">
          {notice}
        </FormMessage>
      )}
      <RestrictionNotice userId={userId} next="/organizations" className="mb-5" />
      <PagedList
        label="Your organizations"
        things="organizations"
        list={{ ...shown, total: organizations.length }}
        hrefOf={(at) => hrefWith("/organizations", { page: at })}
        row={(organization) => <OrganizationRow key={organization.id} organization={organization} />}
        empty={
          <EmptyState Icon={Building2} title="You are not in any organization" action={create}>
            Create one for your team, or open the link of an invitation.
          </EmptyState>
        }
      />
    </SiteFrame>
  );
}

function OrganizationRow({ organization }: Readonly<{ organization: OrganizationOfUser }>) {
  const { name, fullName, avatarId, role } = organization;
  return (
    <ListRow
      leading={<Avatar name={fullName} src={avatarSrc(name, avatarId)} kind="organization" />}
      title={
        <Link prefetch={false} href={organizationPath(name)} className="link break-words">
          <bdi>{fullName}</bdi>
        </Link>
      }
      meta={`${name} · ${roleNames[role]}`}
      trailing={
        <ButtonLink size="small" href={`/${name}`}>
          View profile<span className="sr-only"> of {fullName}</span>
        </ButtonLink>
      }
    />
  );
}
