import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isServiceError } from "#core/errors.ts";
import { findFile } from "#core/hub/git/read/find-file.ts";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { SectionCard } from "../../../../../../../_components/section-card.tsx";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { deleteFileAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage } from "../../../_editing/editing-page.ts";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";
import { placeOf } from "../../../_editing/place-of.ts";

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "Delete file" };

export default async function DeleteFilePage({ params }: Props) {
  const page = await editingPage(params, "delete");
  const { repo, branch, path, head } = page;
  if (head === null) notFound();
  await findFile(repo, { revision: head, path }).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  });
  const name = path.split("/").at(-1) ?? path;
  return (
    <ActionForm action={deleteFileAction.bind(null, placeOf(page))} values={{ seen: head }} label="Delete file">
      <NewerVersion again="Press the button again to delete it all the same." />
      <SectionCard title={<>Delete {name}?</>} isDanger>
        <p className="max-w-reading break-words">
          <code>{path}</code> goes from the branch “{branch}”. It stays in the commits before this one, where it can be found
          again.
        </p>
      </SectionCard>
      <CommitFields
        page={page}
        summary={`Delete ${path}`}
        cancelHref={repoFileHref(repo, "blob", branch, path)}
        submit={page.mayWrite ? `Delete ${name}` : `Propose to delete ${name}`}
        isDanger
      />
    </ActionForm>
  );
}
