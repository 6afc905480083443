import { repoPath } from "@keyhook/sdk";
import { Workflow } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { may } from "#core/access/may.ts";
import { listOrganizationPublishers } from "#core/hub/publishers/list-organization-publishers.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { Card } from "../../../../_components/card.tsx";
import { EmptyState } from "../../../../_components/empty-state.tsx";
import { List } from "../../../../_components/list.tsx";
import { PageHeader } from "../../../../_components/page-header.tsx";
import { Pagination } from "../../../../_components/pagination.tsx";
import { PublisherRow } from "../../../../_components/publishers/publisher-row.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { repoPublishersPath } from "../../../../_server/publishers/publisher-paths.ts";

export const metadata: Metadata = { title: "Trusted publishers" };

/** Every pipeline that may write a repository of the organization. */
export default async function OrganizationPublishersPage({
  params,
  searchParams,
}: Readonly<{ params: OrganizationParams; searchParams: PageQuery }>) {
  const { organization, person } = await requireOrganizationPage((await params).org);
  if (!(await may(person, "organization.list_publishers", { orgId: organization.id }))) notFound();
  const page = await listOrganizationPublishers(person, organization.id, { page: Number(textOf((await searchParams).page)) });
  const path = organizationPath(organization.name, "settings/publishers");
  return (
    <>
      <PageHeader
        title="Trusted publishers"
        description={`Pipelines whose jobs may change a repository of ${organization.fullName}. Each is added and removed in its repository's settings.`}
      />
      <Card>
        {page.items.length === 0 ? (
          <EmptyState
            Icon={Workflow}
            title={page.total > 0 ? "There is nothing on this page" : "No publishers yet"}
            action={
              <ButtonLink href={page.total > 0 ? path : `/${organization.name}`}>
                {page.total > 0 ? "First page" : "Repositories"}
              </ButtonLink>
            }
          >
            Whoever may write a repository can let a pipeline write it as well, in its settings under Trusted publishers.
          </EmptyState>
        ) : (
          <List label="Trusted publishers">
            {page.items.map(({ repo, ...publisher }) => (
              <PublisherRow
                key={publisher.id}
                publisher={publisher}
                repo={
                  <Link
                    prefetch={false}
                    href={repoPublishersPath({ type: repo.type, owner: organization.name, name: repo.name })}
                    className="link min-w-0 break-all"
                  >
                    {repoPath(repo.type, `${organization.name}/${repo.name}`).slice(1)}
                  </Link>
                }
              />
            ))}
          </List>
        )}
      </Card>
      <Pagination label="publishers" {...page} hrefOf={(at) => `${path}?page=${at}`} />
    </>
  );
}
