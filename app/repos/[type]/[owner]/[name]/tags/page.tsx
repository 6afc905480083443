import type { Metadata } from "next";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ActionForm, SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { Field, TextArea } from "../../../../../_components/fields.client.tsx";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
import { fileOrNotFound } from "../../../../../_server/or-not-found.ts";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoNameOf, repoPage } from "../../../../../_server/repo-page.ts";
import { createTagAction, deleteTagAction } from "../_files/ref-actions.ts";
import { RefList } from "../_files/ref-list.tsx";

export const metadata: Metadata = { title: "Tags" };

export default async function TagsPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, mayWrite }, query] = await Promise.all([repoPage(params), searchParams]);
  const { tags, branches } = await fileOrNotFound(listRefs(repo));
  const target = repoNameOf(repo);
  return (
    <RefList
      repo={repo}
      kind="tags"
      refs={tags}
      query={query}
      deleteAction={mayWrite ? (tag) => deleteTagAction.bind(null, target, tag) : undefined}
    >
      {mayWrite && branches.length > 0 && (
        <SectionCard title="New tag" description="A fixed name for a commit.">
          <ActionForm action={createTagAction.bind(null, target)} values={{ revision: repo.defaultBranch }}>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field name="tag" label="Name" isMono />
              <Field name="revision" label="Revision" isMono />
            </div>
            <TextArea name="message" label="Message" isOptional rows={2} />
            <SubmitButton>Create tag</SubmitButton>
          </ActionForm>
        </SectionCard>
      )}
    </RefList>
  );
}
