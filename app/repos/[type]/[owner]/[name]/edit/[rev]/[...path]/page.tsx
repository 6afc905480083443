import { FileLock2 } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../../../_components/button.tsx";
import { Card } from "../../../../../../../_components/card.tsx";
import { EmptyState } from "../../../../../../../_components/empty-state.tsx";
import { Field } from "../../../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../../../_components/section-card.tsx";
import { TextArea } from "../../../../../../../_components/text-area.client.tsx";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { editFileAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage } from "../../../_editing/editing-page.ts";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";
import { placeOf } from "../../../_editing/place-of.ts";
import { readText } from "../../../_editing/read-text.ts";

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "Edit file" };

export default async function EditFilePage({ params }: Props) {
  const page = await editingPage(params, "edit");
  const { repo, branch, path, head } = page;
  if (head === null) notFound();
  const file = await readText(repo, head, path);
  const back = repoFileHref(repo, "blob", branch, path);
  if (!file.isEditable) {
    return (
      <Card>
        <h2 className="sr-only">Edit file</h2>
        <EmptyState Icon={FileLock2} title="Not to be edited here" action={<ButtonLink href={back}>Back to the file</ButtonLink>}>
          {file.reason}
        </EmptyState>
      </Card>
    );
  }
  const values = { path, content: file.text, seen: head };
  return (
    <ActionForm action={editFileAction.bind(null, placeOf(page), file.lineEnd)} values={values} label="Edit file">
      <NewerVersion again="Commit again to put yours in its place." />
      <SectionCard title="Edit file" description={`On the branch “${branch}”.`}>
        <div className="grid gap-5">
          <Field
            name="path"
            label="Name"
            hint="Another name moves the file."
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
      <CommitFields page={page} summary={`Change ${path}`} cancelHref={back} />
    </ActionForm>
  );
}
