import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isPresetName } from "#core/accounts/publishers/presets.ts";
import { Trail } from "../../../../../../../_components/page-layout.tsx";
import { NewPublisherForm } from "../../../../../../../_components/publishers/new-publisher-form.tsx";
import { type PageQuery, textOf } from "../../../../../../../_server/page-query.ts";
import { addRepoPublisherAction } from "../../../../../../../_server/publishers/actions.ts";
import { repoPublishersPath } from "../../../../../../../_server/publishers/publisher-paths.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../../../_server/repo-page.ts";
import { requireRecentSession } from "../../../../../../../_server/session.ts";

export const metadata: Metadata = { title: "New trusted publisher" };

export default async function NewRepoPublisherPage({
  params,
  searchParams,
}: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const { repo, mayManage } = await repoPage(params);
  if (!mayManage || repo.platformId !== null) notFound();
  const [name, asked] = [repoNameOf(repo), textOf((await searchParams).from)];
  const preset = isPresetName(asked) ? asked : "github";
  const listHref = repoPublishersPath(name);
  // A publisher outlives the session that adds it, so the page needs recent authentication (S113).
  await requireRecentSession(`${listHref}/new?from=${preset}`);
  return (
    <div>
      <div className="mb-5">
        <Trail
          steps={[
            { href: `${repoHref(repo, "settings")}?tab=access`, label: "Settings" },
            { href: listHref, label: "Trusted publishers" },
          ]}
        />
        <h2 className="text-lead">New trusted publisher</h2>
        <p className="text-muted text-small">Choose where the jobs run, and select which ones can change {repo.fullName}.</p>
      </div>
      <NewPublisherForm
        preset={preset}
        action={addRepoPublisherAction.bind(null, name, preset)}
        listHref={listHref}
        newHref={`${listHref}/new`}
      />
    </div>
  );
}
