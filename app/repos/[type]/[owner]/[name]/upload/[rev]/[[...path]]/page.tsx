import type { Metadata } from "next";
import { ActionForm } from "../../../../../../../_components/action-form.client.tsx";
import { Field } from "../../../../../../../_components/fields.client.tsx";
import { SectionCard } from "../../../../../../../_components/page-layout.tsx";
import { type RepoParams, repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { uploadFilesAction } from "../../../_editing/actions.ts";
import { CommitFields } from "../../../_editing/commit-fields.tsx";
import { type EditingParams, editingPage, editingTarget } from "../../../_editing/editing-page.ts";
import { FileChooser } from "../../../_editing/file-chooser.client.tsx";
import { NewerVersion } from "../../../_editing/newer-version.client.tsx";

/** The largest form that next.config.js and server/dispatch.ts accept, minus the space for other fields. */
const UPLOAD_MAX_BYTES = 5 * 1024 * 1024;

type Props = Readonly<{ params: RepoParams & EditingParams }>;

export const metadata: Metadata = { title: "Upload" };

export default async function UploadFilesPage({ params }: Props) {
  const page = await editingPage(params, "upload");
  const { repo, branch, path: folder, head } = page;
  const values = { folder, seen: head ?? "" };
  return (
    <ActionForm action={uploadFilesAction.bind(null, editingTarget(page))} values={values} label="Upload">
      <NewerVersion again="Submit the form again to keep your version." />
      <SectionCard title="Upload" description={`On the branch “${branch}”. Files of the same name are replaced.`}>
        <div className="grid max-w-reading gap-5">
          <FileChooser
            maxBytes={UPLOAD_MAX_BYTES}
            hint="At most 5 MB in total. Upload larger files with git, Git LFS or the API."
          />
          <Field name="folder" label="Folder" hint="Leave empty for the top folder." isOptional isMono />
        </div>
      </SectionCard>
      <CommitFields page={page} summary="Upload files" cancelHref={repoFileHref(repo, "tree", branch, folder)} />
    </ActionForm>
  );
}
