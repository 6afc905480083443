import { repoPath } from "@keyhook/sdk";
import { Workflow } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { may } from "#core/access/may.ts";
import { listOrganizationPublishers } from "#core/hub/publishers/list-publishers.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { EmptyState, ListPage } from "../../../../_components/list.tsx";
import { PublisherRow } from "../../../../_components/publishers/publishers-list-page.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { hrefWith, type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { repoPublishersPath } from "../../../../_server/publishers/publisher-paths.ts";

export const metadata: Metadata = { title: "Trusted publishers" };

export default async function OrganizationPublishersPage({
  params,
  searchParams,
}: Readonly<{ params: OrganizationParams; searchParams: PageQuery }>) {
  const { organization, person } = await requireOrganizationPage((await params).org);
  if (!(await may(person, "organization.list_publishers", { orgId: organization.id }))) notFound();
  const query = await searchParams;
  const publishers = await listOrganizationPublishers(person, organization.id, { page: Number(textOf(query.page)) });
  return (
    <ListPage
      title="Trusted publishers"
      description={`Pipelines whose jobs can change a repository of ${organization.fullName}. Add and delete them in the repository's settings.`}
      label="Trusted publishers"
      things="publishers"
      list={publishers}
      hrefOf={(page) => hrefWith(organizationPath(organization.name, "settings/publishers"), { page })}
      row={({ repo, ...publisher }) => (
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
      )}
      empty={
        <EmptyState
          Icon={Workflow}
          title="No publishers yet"
          action={<ButtonLink href={`/${organization.name}`}>View repositories</ButtonLink>}
        >
          Anyone who can write to a repository can add a pipeline in its settings, under Trusted publishers.
        </EmptyState>
      }
    />
  );
}
