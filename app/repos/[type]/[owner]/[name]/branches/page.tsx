import type { Metadata } from "next";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ActionForm, SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../_components/fields.client.tsx";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
import { fileOrNotFound } from "../../../../../_server/or-not-found.ts";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoNameOf, repoPage } from "../../../../../_server/repo-page.ts";
import { createBranchAction, deleteBranchAction } from "../_files/ref-actions.ts";
import { RefList } from "../_files/ref-list.tsx";

export const metadata: Metadata = { title: "Branches" };

export default async function BranchesPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, mayWrite }, query] = await Promise.all([repoPage(params), searchParams]);
  const { branches } = await fileOrNotFound(listRefs(repo));
  const target = repoNameOf(repo);
  return (
    <RefList
      repo={repo}
      kind="branches"
      refs={branches}
      query={query}
      deleteAction={mayWrite ? (branch) => deleteBranchAction.bind(null, target, branch) : undefined}
    >
      {mayWrite && branches.length > 0 && (
        <SectionCard title="New branch" description="Start from another branch, a tag or a commit.">
          <ActionForm action={createBranchAction.bind(null, target)} values={{ startingPoint: repo.defaultBranch }}>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field name="branch" label="Name" isMono />
              <Field name="startingPoint" label="Start from" isMono />
            </div>
            <SubmitButton>Create branch</SubmitButton>
          </ActionForm>
        </SectionCard>
      )}
    </RefList>
  );
}
