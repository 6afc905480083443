import type { Actor } from "../../access/actor.ts";
import { ServiceError } from "../../errors.ts";
import { runGit } from "../git/run-git.ts";
import { signatureOf } from "../git/write/signature.ts";
import type { Discussion } from "./discussion.ts";
import { mergeTree } from "./merge-tree.ts";

const FILES_NAMED = 10;

/**
 * Writes the merge commit of a pull request and its base; no ref leads to it yet.
 * @throws ServiceError `conflict`, which names the files; `unavailable` as `mergeTree`
 */
export async function mergeCommit(
  path: string,
  actor: Actor,
  { num, title }: Pick<Discussion, "num" | "title">,
  { baseSha, headSha }: { baseSha: string; headSha: string },
): Promise<string> {
  const merged = await mergeTree(path, baseSha, headSha);
  if (merged.outcome === "conflicts") throw new ServiceError("conflict", conflictSentence(merged.files));
  if (merged.outcome === "unrelated") throw new ServiceError("conflict", "It has no history in common with its base.");
  const signature = await signatureOf(actor);
  const lines = [
    `tree ${merged.tree}`,
    `parent ${baseSha}`,
    `parent ${headSha}`,
    `author ${signature}`,
    `committer ${signature}`,
    "",
    `Merge pull request #${num}`,
    "",
    title,
    "",
  ];
  const args = ["hash-object", "-t", "commit", "-w", "--stdin"];
  return (await runGit(path, args, { input: lines.join("\n") })).toString("latin1").trim();
}

function conflictSentence(files: readonly string[]): string {
  const named = files.slice(0, FILES_NAMED).join(", ");
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : "";
  return `Both sides changed ${named}${more}. Bring the base into the pull request's commits, then merge.`;
}
