import { runGit } from "../run-git.ts";
import type { Signature } from "./signature.ts";

/** Git's name for a folder with nothing in it. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Writes a commit without parents. @param tree by default one without files. @returns the commit */
export async function writeRootCommit(
  path: string,
  { tree = EMPTY_TREE, message, signature }: { tree?: string; message: string; signature: Signature },
): Promise<string> {
  if (tree === EMPTY_TREE) await runGit(path, ["mktree"], { input: "" });
  return writeObject(path, "commit", `tree ${tree}\nauthor ${signature}\ncommitter ${signature}\n\n${message}`);
}

/** Writes an annotated tag of a commit. @returns the tag object */
export async function writeTag(
  path: string,
  { tag, commit, message, signature }: { tag: string; commit: string; message: string; signature: Signature },
): Promise<string> {
  return writeObject(path, "tag", `object ${commit}\ntype commit\ntag ${tag}\ntagger ${signature}\n\n${message}`);
}

/** Git checks what it is given before it writes it. */
async function writeObject(path: string, type: "commit" | "tag", content: string): Promise<string> {
  return (await runGit(path, ["hash-object", "-t", type, "-w", "--stdin"], { input: content })).toString("latin1").trim();
}
