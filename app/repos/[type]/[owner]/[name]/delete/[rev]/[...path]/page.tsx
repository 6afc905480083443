import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findFile } from "#core/hub/git/read/find-file.ts";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { SectionCard } from "../../../../../../../_components/page-layout.tsx";
import { orNotFound } from "../../../../../../../_server/or-not-found.ts";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { deleteFileAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage, editingTarget } from "../../../_editing/editing-page.ts";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "Delete file" };

export default async function DeleteFilePage({ params }: Props) {
  const page = await editingPage(params, "delete");
  const { repo, branch, path, head } = page;
  if (head === null) notFound();
  await orNotFound(findFile(repo, { revision: head, path }));
  const name = path.split("/").at(-1) ?? path;
  return (
    <ActionForm action={deleteFileAction.bind(null, editingTarget(page))} values={{ seen: head }} label="Delete file">
      <NewerVersion again="Press the button again to delete the file anyway." />
      <SectionCard title={<>Delete {name}?</>} isDanger>
        <p className="max-w-reading break-words">
          The commit deletes <code>{path}</code>. Earlier commits still contain the file.
        </p>
      </SectionCard>
      <CommitFields
        page={page}
        summary={`Delete ${path}`}
        cancelHref={repoFileHref(repo, "blob", branch, path)}
        submit={page.mayWrite ? `Delete ${name}` : `Propose deleting ${name}`}
        isDanger
      />
    </ActionForm>
  );
}
