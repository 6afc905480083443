"use server";

import type { RepoType } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { changeFiles, type FileChanges, type NewerVersion } from "#core/hub/git/write/change-files.ts";
import type { Committed } from "#core/hub/git/write/create-commit.ts";
import type { FormState } from "../../../../../_components/form-state.ts";
import { type FormOutcome, submitForm } from "../../../../../_server/form.ts";
import { setPageStatus } from "../../../../../_server/page-status.ts";
import { isText, repoFileHref, repoHref, submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requirePerson } from "../../../../../_server/session.ts";
import type { SubmittedForm } from "../../../../../_server/submitted-form.ts";
import type { EditingKind } from "./editing-page.ts";
import { shortSha } from "./short-sha.ts";

/** Where a form of these pages belongs to; core asks again whether its sender may. */
export type EditingPlace = Readonly<{
  type: RepoType;
  owner: string;
  name: string;
  fullName: string;
  branch: string;
  /** The file; of new ones the folder. */
  path: string;
}>;

export async function createFileAction(bound: EditingPlace, _previous: FormState, data: FormData): Promise<FormState> {
  return submitChange(bound, "new", data, (place, form) => {
    const path = form.text("path").replace(/^\/+/, "");
    if (path === "") throw new ServiceError("invalid_request", "Give the file a name.", { field: "path" });
    return {
      files: [{ path, content: contentOf(form, "\n"), isNew: true }],
      summary: `Add ${path}`,
      next: repoFileHref(place, "blob", place.branch, path),
    };
  });
}

export async function editFileAction(
  bound: EditingPlace,
  lineEnd: "\n" | "\r\n",
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitChange(bound, "edit", data, (place, form) => {
    const path = form.text("path").replace(/^\/+/, "") || place.path;
    const isMoved = path !== place.path;
    const moved = isMoved ? [{ path: place.path, content: null }] : [];
    return {
      files: [...moved, { path, content: contentOf(form, lineEnd), isNew: isMoved }],
      summary: isMoved ? `Move ${place.path} to ${path}` : `Change ${path}`,
      next: repoFileHref(place, "blob", place.branch, path),
    };
  });
}

export async function uploadFilesAction(bound: EditingPlace, _previous: FormState, data: FormData): Promise<FormState> {
  return submitChange(bound, "upload", data, async (place, form) => {
    const files = await form.files("files");
    if (files.length === 0) throw new ServiceError("invalid_request", "Choose one file at least.", { field: "files" });
    const folder = form.text("folder").replace(/^\/+|(?<!\/)\/+$/g, "");
    return {
      files: files.map(({ name, content }) => ({ path: folder ? `${folder}/${name}` : name, content })),
      summary: files.length === 1 ? `Upload ${files[0]?.name}` : `Upload ${files.length} files`,
      next: repoFileHref(place, "tree", place.branch, folder),
    };
  });
}

export async function deleteFileAction(bound: EditingPlace, _previous: FormState, data: FormData): Promise<FormState> {
  return submitChange(bound, "delete", data, (place) => ({
    files: [{ path: place.path, content: null }],
    summary: `Delete ${place.path}`,
    next: repoFileHref(place, "tree", place.branch),
  }));
}

/** What an action is bound to comes back from the browser. @throws ServiceError `not_found` */
function submittedPlace(bound: EditingPlace): EditingPlace {
  const repo = submittedRepoName(bound);
  const { branch, path } = bound;
  if (!isText(branch) || !isText(path)) throw notFound("File");
  return { ...repo, fullName: `${repo.owner}/${repo.name}`, branch, path };
}

type Change = Pick<FileChanges, "files"> & {
  /** When the person leaves it to us. */
  summary: string;
  /** Where to go when it is on the branch. */
  next: string;
};

/** Asks who sends it before anything of it is read: what a stranger sends costs nothing (S137). */
async function submitChange(
  bound: EditingPlace,
  kind: EditingKind,
  data: FormData,
  read: (place: EditingPlace, form: SubmittedForm) => Change | Promise<Change>,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const place = submittedPlace(bound);
    const person = await requirePerson(repoFileHref(place, kind, place.branch, place.path));
    return change(person, place, form, await read(place, form));
  });
}

async function change(
  person: Person,
  place: EditingPlace,
  form: SubmittedForm,
  { files, summary, next }: Change,
): Promise<FormOutcome> {
  const { type, owner, name, branch } = place;
  const isPullRequest = form.text("target") === "pull-request";
  const changed = await changeFiles(
    person,
    { type, owner, name },
    {
      branch,
      seen: form.text("seen") || null,
      files,
      summary: form.text("summary") || summary,
      description: form.text("description"),
      isPullRequest,
    },
  );
  if (changed.outcome === "overtaken") return overtaken(place, form, changed.newer);
  if (!changed.committed.isNew) throw new ServiceError("invalid_request", "Nothing is different from what is there.");
  redirect(afterwards(place, changed.committed, next));
}

function afterwards(place: EditingPlace, { pullRequest }: Committed, next: string): string {
  return pullRequest === undefined ? next : repoHref(place, "discussions", String(pullRequest));
}

/** The form as it was sent, beginning from what is there now: whoever has looked at it sends it again. */
function overtaken(place: EditingPlace, form: SubmittedForm, newer: NewerVersion): FormOutcome {
  setPageStatus(409);
  const { path, head, commit, authorName, title, isDeleted } = newer;
  return {
    values: {
      ...form.echo(),
      seen: head,
      newerCommit: shortSha(commit),
      newerCommitHref: repoHref(place, "commit", commit),
      newerFileHref: isDeleted ? "" : repoFileHref(place, "blob", head, path),
      newerText: `${authorName} ${isDeleted ? "deleted" : "changed"} ${path} meanwhile: “${title}”.`,
    },
  };
}

/** Browsers send every line end as CR LF, whatever the file had. */
function contentOf(form: SubmittedForm, lineEnd: "\n" | "\r\n"): Uint8Array {
  const text = form.verbatim("content");
  if (!text.isWellFormed()) {
    throw new ServiceError("invalid_request", "This contains characters that are not valid text.", { field: "content" });
  }
  return Buffer.from(text.replace(/\r\n?|\n/g, lineEnd));
}
