import { Building2 } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { listOrganizations, type OrganizationOfUser } from "#core/accounts/organizations/list-organizations.ts";
import { Avatar } from "../_components/avatar.tsx";
import { avatarSrc } from "../_components/avatar-src.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Card } from "../_components/card.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { FormMessage } from "../_components/form-message.tsx";
import { List, ListRow } from "../_components/list.tsx";
import { PageBody } from "../_components/page-body.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { Pagination } from "../_components/pagination.tsx";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { organizationPath } from "../_server/organization-page.ts";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { requireSession } from "../_server/session.ts";

export const metadata: Metadata = { title: "Organizations" };

const PAGE_SIZE = 30;

export default async function OrganizationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const { userId } = await requireSession("/organizations");
  const query = await searchParams;
  const organizations = await listOrganizations(userId);
  const page = Math.min(
    Math.max(1, Math.floor(Number(textOf(query.page))) || 1),
    Math.ceil(organizations.length / PAGE_SIZE) || 1,
  );
  const create = (
    <ButtonLink variant="primary" href="/organizations/new">
      New organization
    </ButtonLink>
  );
  return (
    <SiteFrame>
      <PageBody width="reading">
        <PageHeader
          title="Organizations"
          description="What you own and decide together with others."
          actions={organizations.length > 0 && create}
        />
        {textOf(query.notice) === "left" && (
          <FormMessage tone="good" className="mb-5">
            You have left the organization. What you had allowed apps to do there has ended.
          </FormMessage>
        )}
        {textOf(query.notice) === "deleted" && (
          <FormMessage tone="good" className="mb-5">
            The organization is deleted, with all that it owned.
          </FormMessage>
        )}
        <RestrictionNotice userId={userId} next="/organizations" className="mb-5" />
        <Card>
          {organizations.length === 0 ? (
            <EmptyState Icon={Building2} title="You are in no organization" action={create}>
              Make one for your team, or open the link in an invitation that was mailed to you.
            </EmptyState>
          ) : (
            <List label="Your organizations">
              {organizations.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map((organization) => (
                <OrganizationRow key={organization.id} organization={organization} />
              ))}
            </List>
          )}
        </Card>
        <Pagination
          label="organizations"
          page={page}
          pageSize={PAGE_SIZE}
          total={organizations.length}
          hrefOf={(at) => `/organizations?page=${at}`}
        />
      </PageBody>
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
      meta={`${name} · ${role}`}
      trailing={
        <ButtonLink size="small" href={`/${name}`}>
          Profile<span className="sr-only"> of {fullName}</span>
        </ButtonLink>
      }
    />
  );
}
