import type { Metadata } from "next";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../../../_components/section-card.tsx";
import { TextArea } from "../../../../../../../_components/text-area.client.tsx";
import { type PageQuery, textOf } from "../../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { createFileAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage } from "../../../_editing/editing-page.ts";
import { placeOf } from "../../../_editing/place-of.ts";

type Props = Readonly<{ params: RepoParams & EditingParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "New file" };

export default async function NewFilePage({ params, searchParams }: Props) {
  const [page, query] = await Promise.all([editingPage(params, "new"), searchParams]);
  const { repo, branch, path: folder, head } = page;
  const name = (textOf(query.name) ?? "").slice(0, 255);
  const values = { path: folder ? `${folder}/${name}` : name, seen: head ?? "" };
  return (
    <ActionForm action={createFileAction.bind(null, placeOf(page))} values={values} label="New file">
      <SectionCard title="New file" description={`On the branch “${branch}”.`}>
        <div className="grid gap-5">
          <Field
            name="path"
            label="Name"
            hint="Slashes make folders: notes/tides.md."
            isMono
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <TextArea
            name="content"
            label="Content"
            isMono
            isOptional
            rows={16}
            spellCheck={false}
            wrap="off"
            className="max-h-screen min-h-80"
          />
        </div>
      </SectionCard>
      <CommitFields page={page} summary="Add the file" cancelHref={repoFileHref(repo, "tree", branch, folder)} />
    </ActionForm>
  );
}
