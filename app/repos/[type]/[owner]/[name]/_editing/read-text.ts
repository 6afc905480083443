import { notFound } from "next/navigation";
import { isServiceError } from "#core/errors.ts";
import { findFile } from "#core/hub/git/read/find-file.ts";
import type { Repo } from "#core/hub/repos/repo.ts";

/** More than this is no longer pleasant in a browser's text field. */
export const EDITABLE_MAX_BYTES = 1024 * 1024;

export type EditableText =
  | { isEditable: true; text: string; lineEnd: "\n" | "\r\n" }
  /** Why not, in a sentence. */
  | { isEditable: false; reason: string };

/** A file as a text field can hold it. 404 when it is none. */
export async function readText(repo: Repo, commit: string, path: string): Promise<EditableText> {
  const file = await findFile(repo, { revision: commit, path, maxBytes: EDITABLE_MAX_BYTES }).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  });
  if (file.entry.lfs) return { isEditable: false, reason: "This file is in Git LFS. Upload a new version of it instead." };
  if (file.entry.mode === "120000") return { isEditable: false, reason: "This is a symbolic link. Change it with git." };
  if (!file.bytes && file.storedSize > 0) {
    return { isEditable: false, reason: "This file is too large to be edited here. Change it with git." };
  }
  const bytes = file.bytes ?? Buffer.alloc(0);
  const text = decode(bytes);
  if (text === undefined) return { isEditable: false, reason: "This file is not text. Upload a new version of it instead." };
  // A text field knows one kind of line end; a file that mixes them gets the usual one.
  const isCarried = /\r\n/.test(text) && !/(^|[^\r])\n/.test(text);
  return { isEditable: true, text, lineEnd: isCarried ? "\r\n" : "\n" };
}

function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
