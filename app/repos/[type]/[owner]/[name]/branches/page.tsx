import type { Metadata } from "next";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoPage } from "../../../../../_server/repo-page.ts";
import { orNotFound } from "../_files/or-not-found.ts";
import { createBranchAction, deleteBranchAction } from "../_files/ref-actions.ts";
import { RefList } from "../_files/ref-list.tsx";

export const metadata: Metadata = { title: "Branches" };

export default async function BranchesPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, mayWrite }, query] = await Promise.all([repoPage(params), searchParams]);
  const { branches } = await orNotFound(listRefs(repo));
  const target = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  return (
    <RefList
      repo={repo}
      kind="branches"
      refs={branches}
      query={query}
      deleteAction={mayWrite ? (ref) => deleteBranchAction.bind(null, { ...target, ref }) : undefined}
    >
      {mayWrite && branches.length > 0 && (
        <SectionCard title="New branch" description="It begins where another branch, a tag or a commit is.">
          <ActionForm action={createBranchAction.bind(null, target)} values={{ startingPoint: repo.defaultBranch }}>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field name="branch" label="Name" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
              <Field name="startingPoint" label="Begins at" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
            </div>
            <div>
              <SubmitButton>Create branch</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      )}
    </RefList>
  );
}
