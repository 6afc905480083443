import { notFound, redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { findFile } from "#core/hub/git/read/find-file.ts";
import { resolveRef } from "#core/hub/git/refs/git-refs.ts";
import { isRefName } from "#core/hub/git/refs/ref-name.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { type Repo, repoResource } from "#core/hub/repos/repo.ts";
import { signInPath } from "../../../../../_server/next-path.ts";
import { orNotFound } from "../../../../../_server/or-not-found.ts";
import {
  decodeSegment,
  decodeSegments,
  type RepoPage,
  type RepoParams,
  repoFileHref,
  repoPage,
} from "../../../../../_server/repo-page.ts";
import type { EditingTarget } from "./actions.ts";

export type EditingParams = Promise<{ rev: string; path?: string[] }>;
export type EditingKind = "new" | "edit" | "upload" | "delete";

export type EditingPage = Omit<RepoPage, "person"> & {
  person: Person;
  branch: string;
  /** Null while the branch has no commit. */
  head: string | null;
  /** The path of the file, or of the folder for a new file. */
  path: string;
  mayPropose: boolean;
};

/** Visitors sign in first. 404 for an unknown branch, and for users who may neither change nor propose. */
export async function editingPage(params: RepoParams & EditingParams, kind: EditingKind): Promise<EditingPage> {
  const [page, { rev, path: segments }] = await Promise.all([repoPage(params), params]);
  const { repo, person, mayWrite, mayReadContent } = page;
  const [branch, path] = [decodeSegment(rev), decodeSegments(segments).join("/")];
  if (repo.platformId !== null || repo.isReadOnly || !mayReadContent || !isRefName(branch)) notFound();
  if (!person) redirect(signInPath(repoFileHref(repo, kind, branch, path)));
  const mayPropose = repo.hasDiscussions && (await may(person, "discussion.write", repoResource(repo)));
  if (!mayWrite && !mayPropose) notFound();
  const head = await resolveRef(await openRepository(repo), `refs/heads/${branch}`);
  if (head === null && branch !== repo.defaultBranch) notFound();
  return { ...page, person, branch, head, path, mayPropose };
}

export function editingTarget({ repo, branch, path }: EditingPage): EditingTarget {
  const { type, owner, name, fullName } = repo;
  return { type, owner: owner.handle, name, fullName, branch, path };
}

export const isMarkdownName = (name: string): boolean => /\.(md|markdown)$/i.test(name);

/** Longer texts are too slow in a browser's text field, and the page contains the text several times (S137). */
const EDITABLE_MAX_BYTES = 512 * 1024;

type EditableText =
  | { isEditable: true; text: string; lineEnd: "\n" | "\r\n" }
  /** `isReplaceable`: an upload can replace the file. */
  | { isEditable: false; reason: string; isReplaceable?: boolean };

export async function readText(repo: Repo, commit: string, path: string): Promise<EditableText> {
  const file = await orNotFound(findFile(repo, { revision: commit, path, maxBytes: EDITABLE_MAX_BYTES }));
  if (file.entry.lfs)
    return { isEditable: false, reason: "This file is in Git LFS. Upload a new version of it instead.", isReplaceable: true };
  if (file.entry.mode === "120000") return { isEditable: false, reason: "This is a symbolic link. Change it with git." };
  if (!file.bytes && file.storedSize > 0) {
    return { isEditable: false, reason: "This file is too large to edit here. Change it with git." };
  }
  const bytes = file.bytes ?? Buffer.alloc(0);
  const text = decode(bytes);
  if (text === undefined) {
    return { isEditable: false, reason: "This file is not text. Upload a new version of it instead.", isReplaceable: true };
  }
  // The form saves one kind of line end. A file with both kinds gets LF.
  const isCrlf = /\r\n/.test(text) && !/(^|[^\r])\n/.test(text);
  return { isEditable: true, text, lineEnd: isCrlf ? "\r\n" : "\n" };
}

function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
