import { FileLock2 } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../../../_components/button.tsx";
import { EmptyState } from "../../../../../../../_components/list.tsx";
import { Card, SectionCard } from "../../../../../../../_components/page-layout.tsx";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { editFileAction } from "../../../_editing/actions.ts";
import { CommitFields, FileFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage, editingTarget, isMarkdownName, readText } from "../../../_editing/editing-page.ts";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "File editor" };

export default async function EditFilePage({ params }: Props) {
  const page = await editingPage(params, "edit");
  const { repo, branch, path, head } = page;
  if (head === null) notFound();
  const file = await readText(repo, head, path);
  const back = repoFileHref(repo, "blob", branch, path);
  if (!file.isEditable) {
    return (
      <Card>
        <h2 className="sr-only">File editor</h2>
        <EmptyState
          Icon={FileLock2}
          title="Cannot edit this file"
          action={
            <span className="flex flex-wrap justify-center gap-2">
              {file.isReplaceable && (
                <ButtonLink href={repoFileHref(repo, "upload", branch, path.split("/").slice(0, -1).join("/"))}>
                  Upload a new version
                </ButtonLink>
              )}
              <ButtonLink href={back}>Back to the file</ButtonLink>
            </span>
          }
        >
          {file.reason}
        </EmptyState>
      </Card>
    );
  }
  const values = { path, content: file.text, seen: head };
  return (
    <ActionForm action={editFileAction.bind(null, editingTarget(page), file.lineEnd)} values={values} label="File editor">
      <NewerVersion again="Submit the form again to keep your version." />
      <SectionCard title="File editor" description={`On the branch “${branch}”.`}>
        <FileFields hint="To move the file, change its name." />
      </SectionCard>
      <CommitFields page={page} summary={`Change ${path}`} cancelHref={back} hasPreview={isMarkdownName(path)} />
    </ActionForm>
  );
}
