import type { Metadata } from "next";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../../../_components/section-card.tsx";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { uploadFilesAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage } from "../../../_editing/editing-page.ts";
import { FileChooser } from "../../../_editing/file-chooser.client.tsx";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";
import { placeOf } from "../../../_editing/place-of.ts";

/** What a form takes (next.config.js, server/dispatch.ts), less what is around the files. */
const UPLOAD_MAX_BYTES = 5 * 1024 * 1024;

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "Upload files" };

export default async function UploadFilesPage({ params }: Props) {
  const page = await editingPage(params, "upload");
  const { repo, branch, path: folder, head } = page;
  const values = { folder, seen: head ?? "" };
  return (
    <ActionForm action={uploadFilesAction.bind(null, placeOf(page))} values={values} label="Upload files">
      <NewerVersion again="Commit again to put yours in its place." />
      <SectionCard title="Upload files" description={`To the branch “${branch}”. Files of the same name are replaced.`}>
        <div className="grid max-w-reading gap-5">
          <FileChooser
            maxBytes={UPLOAD_MAX_BYTES}
            hint="5 MB together. Larger ones come by git, with Git LFS, or from a client of the API."
          />
          <Field
            name="folder"
            label="Folder"
            hint="Left empty, they go to the top."
            isOptional
            isMono
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        </div>
      </SectionCard>
      <CommitFields page={page} summary="Upload files" cancelHref={repoFileHref(repo, "tree", branch, folder)} />
    </ActionForm>
  );
}
