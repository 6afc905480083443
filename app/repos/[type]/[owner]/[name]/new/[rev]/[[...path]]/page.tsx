import type { Metadata } from "next";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { SectionCard } from "../../../../../../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { createFileAction } from "../../../_editing/actions.ts";
import { CommitFields, FileFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage, editingTarget } from "../../../_editing/editing-page.ts";

type Props = Readonly<{ params: RepoParams & EditingParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "New file" };

export default async function NewFilePage({ params, searchParams }: Props) {
  const [page, query] = await Promise.all([editingPage(params, "new"), searchParams]);
  const { repo, branch, path: folder, head } = page;
  const name = (textOf(query.name) ?? "").slice(0, 255);
  const values = { path: folder ? `${folder}/${name}` : name, seen: head ?? "" };
  return (
    <ActionForm action={createFileAction.bind(null, editingTarget(page))} values={values} label="New file">
      <SectionCard title="New file" description={`On the branch “${branch}”.`}>
        <FileFields hint="Use slashes for folders: notes/tides.md." />
      </SectionCard>
      <CommitFields page={page} summary="Add file" cancelHref={repoFileHref(repo, "tree", branch, folder)} hasPreview />
    </ActionForm>
  );
}
