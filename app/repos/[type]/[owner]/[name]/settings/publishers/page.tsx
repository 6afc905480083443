import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { listPublishers } from "#core/hub/publishers/list-publishers.ts";
import { Trail } from "../../../../../../_components/page-layout.tsx";
import { PublishersListPage } from "../../../../../../_components/publishers/publishers-list-page.tsx";
import type { PageQuery } from "../../../../../../_server/page-query.ts";
import { deleteRepoPublisherAction } from "../../../../../../_server/publishers/actions.ts";
import { repoPublishersPath } from "../../../../../../_server/publishers/publisher-paths.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../../_server/repo-page.ts";

export const metadata: Metadata = { title: "Trusted publishers" };

export default async function RepoPublishersPage({
  params,
  searchParams,
}: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const { repo, person, mayManage } = await repoPage(params);
  if (!mayManage || !person || repo.platformId !== null) notFound();
  const name = repoNameOf(repo);
  return (
    <div>
      <PublishersListPage
        header={(add) => (
          <div className="mb-5 flex flex-wrap items-start justify-between gap-3">
            <div>
              <Trail steps={[{ href: `${repoHref(repo, "settings")}?tab=access`, label: "Settings" }]} />
              <h2 className="text-lead">Trusted publishers</h2>
              <p className="max-w-reading text-muted text-small">
                Pipelines whose jobs can push and commit to this repository, and to no other. Their commits have no account as
                author.
              </p>
            </div>
            {add}
          </div>
        )}
        subject={{ repo }}
        publishers={await listPublishers(person, { repo: name })}
        addHref={`${repoPublishersPath(name)}/new`}
        deleteAction={(id) => deleteRepoPublisherAction.bind(null, name, id)}
        query={await searchParams}
      />
    </div>
  );
}
