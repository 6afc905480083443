"use server";

import type { RepoType } from "@keyhook/sdk";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { changeFiles, type FileChanges, type NewerVersion } from "#core/hub/git/write/change-files.ts";
import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import { PREVIEW } from "../../../../../_components/form-state.ts";
import {
  type BoundAction,
  type FormOutcome,
  formAction,
  type Input,
  optional,
  type Scope,
  text,
  verbatim,
} from "../../../../../_server/form-action.ts";
import { setPageStatus } from "../../../../../_server/page-status.ts";
import { isText, repoFileHref, repoHref, submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requirePerson } from "../../../../../_server/session.ts";
import { type SubmittedForm, withLineEnd } from "../../../../../_server/submitted-form.ts";
import { type EditingKind, isMarkdownName } from "./editing-page.ts";

/** The browser sends these values back, so core checks the permission again. */
export type EditingTarget = Readonly<{
  type: RepoType;
  owner: string;
  name: string;
  fullName: string;
  branch: string;
  /** The path of the file, or the folder of a new file. */
  path: string;
}>;

const fields = {
  intent: text,
  path: text,
  content: verbatim,
  files: (form: SubmittedForm) => form.files("files"),
  folder: text,
  seen: optional,
  summary: text,
  description: text,
  isPullRequest: (form: SubmittedForm) => form.text("target") === "pull-request",
  typed: (form: SubmittedForm) => form.echo(),
};

type Typed = Input<typeof fields>;

export const createFileAction = changeAction("new", (target, typed) => {
  const path = typed.path.replace(/^\/+/, "");
  if (path === "") throw new ServiceError("invalid_request", "Enter a file name.", { field: "path" });
  return {
    files: [{ path, content: contentOf(typed, "\n"), isNew: true }],
    summary: `Add ${path}`,
    next: repoFileHref(target, "blob", target.branch, path),
  };
});

export const editFileAction = changeAction("edit", (target, typed, lineEnd: unknown) => {
  const path = typed.path.replace(/^\/+/, "") || target.path;
  const isMoved = path !== target.path;
  const moved = isMoved ? [{ path: target.path, content: null }] : [];
  return {
    files: [...moved, { path, content: contentOf(typed, lineEnd), isNew: isMoved }],
    summary: isMoved ? `Move ${target.path} to ${path}` : `Change ${path}`,
    next: repoFileHref(target, "blob", target.branch, path),
  };
});

export const uploadFilesAction = changeAction("upload", (target, { files, folder: typedFolder }) => {
  if (files.length === 0) throw new ServiceError("invalid_request", "Choose at least one file.", { field: "files" });
  const folder = typedFolder.replace(/^\/+|(?<!\/)\/+$/g, "");
  return {
    files: files.map(({ name, content }) => ({ path: folder ? `${folder}/${name}` : name, content })),
    summary: files.length === 1 ? `Upload ${files[0]?.name}` : `Upload ${files.length} files`,
    next: repoFileHref(target, "tree", target.branch, folder),
  };
});

export const deleteFileAction = changeAction("delete", (target) => ({
  files: [{ path: target.path, content: null }],
  summary: `Delete ${target.path}`,
  next: repoFileHref(target, "tree", target.branch),
}));

type Change = Pick<FileChanges, "files"> & {
  summary: string;
  next: string;
};

function changeAction<Rest extends unknown[]>(
  kind: EditingKind,
  changeOf: (target: EditingTarget, typed: Typed, ...rest: Rest) => Change,
): BoundAction<[target: EditingTarget, ...Rest]> {
  return formAction(editingAt(kind), fields, async ({ person, target, input }, ...rest: Rest) => {
    if (input.intent === PREVIEW) return preview(target, input);
    const { files, summary, next } = changeOf(target, input, ...rest);
    const { type, owner, name, branch } = target;
    const { seen, description, isPullRequest } = input;
    const changes = { branch, seen, files, summary: input.summary || summary, description, isPullRequest };
    const changed = await changeFiles(person, { type, owner, name }, changes);
    if (changed.outcome === "overtaken") return overtaken(target, input, changed.newer);
    const { isNew, pullRequest } = changed.committed;
    if (!isNew) throw new ServiceError("invalid_request", "Nothing was committed: the files are the same as before.");
    if (pullRequest === undefined) redirect(next);
    // The discussions tab shows the number of discussions.
    revalidatePath("/", "layout");
    redirect(repoHref(target, "discussions", String(pullRequest)));
  });
}

/** Rendering takes time, so the scope has required a signed-in user (S137). */
async function preview(target: EditingTarget, { path, content }: Typed): Promise<FormOutcome> {
  if (!isMarkdownName(path)) {
    throw new ServiceError("invalid_request", "Only Markdown files (.md) can be previewed.", { field: "path" });
  }
  const folder = path.split("/").slice(0, -1).join("/");
  const context = { base: repoHref(target), revision: target.branch, folder, idPrefix: "preview-" };
  return { preview: (await renderMarkdown(content, context)) ?? null };
}

/** The browser sends the bound target back. The scope throws `not_found` for an invalid target. */
function editingAt(
  kind: EditingKind,
): Scope<[bound: EditingTarget], Readonly<{ person: Person; target: EditingTarget; page: string }>> {
  return {
    argumentCount: 1,
    enter: async (_form, bound) => {
      const repo = submittedRepoName(bound);
      const { branch, path } = bound;
      if (!isText(branch) || !isText(path)) throw notFound("File");
      const target = { ...repo, fullName: `${repo.owner}/${repo.name}`, branch, path };
      const page = repoFileHref(target, kind, branch, path);
      return { person: await requirePerson(page), target, page };
    },
  };
}

/** The returned form is based on the newer commit, so that the user can review that commit. */
function overtaken(target: EditingTarget, { typed }: Typed, newer: NewerVersion): FormOutcome {
  setPageStatus(409);
  const { path, head, commit, authorName, title, isDeleted } = newer;
  const did = isDeleted ? "deleted" : "changed";
  return {
    values: {
      ...typed,
      seen: head,
      newerCommit: shortSha(commit),
      newerCommitHref: repoHref(target, "commit", commit),
      newerFileHref: isDeleted ? "" : repoFileHref(target, "blob", head, path),
      newerText:
        authorName === undefined
          ? `${path} was ${did} in the meantime.`
          : `${authorName} ${did} ${path} in the meantime: “${title}”.`,
    },
  };
}

function contentOf({ content: text }: Typed, lineEnd: unknown): Uint8Array {
  if (!text.isWellFormed()) {
    throw new ServiceError(
      "invalid_request",
      "The content contains characters that are not valid text. Delete them, or upload the file.",
      { field: "content" },
    );
  }
  return Buffer.from(withLineEnd(text, lineEnd));
}

const shortSha = (sha: string): string => sha.slice(0, 10);
