import type { Metadata } from "next";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../../_components/text-area.client.tsx";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoPage } from "../../../../../_server/repo-page.ts";
import { orNotFound } from "../_files/or-not-found.ts";
import { createTagAction, deleteTagAction } from "../_files/ref-actions.ts";
import { RefList } from "../_files/ref-list.tsx";

export const metadata: Metadata = { title: "Tags" };

export default async function TagsPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, mayWrite }, query] = await Promise.all([repoPage(params), searchParams]);
  const { tags, branches } = await orNotFound(listRefs(repo));
  const target = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  return (
    <RefList
      repo={repo}
      kind="tags"
      refs={tags}
      query={query}
      deleteAction={mayWrite ? (ref) => deleteTagAction.bind(null, { ...target, ref }) : undefined}
    >
      {mayWrite && branches.length > 0 && (
        <SectionCard title="New tag" description="A name for a commit that stays where it is.">
          <ActionForm action={createTagAction.bind(null, target)} values={{ revision: repo.defaultBranch }}>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field name="tag" label="Name" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
              <Field name="revision" label="Of" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
            </div>
            <TextArea name="message" label="Message" isOptional rows={2} />
            <div>
              <SubmitButton>Create tag</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      )}
    </RefList>
  );
}
