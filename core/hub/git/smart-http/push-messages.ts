import { repoPath } from "@keyhook/sdk";
import { db } from "../../../db.ts";
import { env } from "../../../env.ts";
import { countWatching } from "../../../webhooks/count-watching.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { repoWebUrl } from "../../repos/repo.ts";
import type { Recorded } from "../refs/record-ref-changes.ts";

/** In a push of many branches, the first ones. */
const BRANCHES_MAX = 3;

/** The messages at the end of a push: where to see it, what to do next, and who was notified. */
export async function pushMessages({ repo, changed }: Recorded, pushedAs: string): Promise<string[]> {
  const lines: string[] = [];
  const web = repoWebUrl(repo);
  if (pushedAs.toLowerCase() !== repo.fullName.toLowerCase()) {
    lines.push("This repository has moved. Its address is now:", `  ${env().ORIGIN}${repoPath(repo.type, repo.fullName)}`);
  }
  for (const { ref, oldSha, newSha } of changed.slice(0, 100)) {
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    const num = numOfPullRequestRef(ref);
    if (lines.length > BRANCHES_MAX * 2) break;
    if (num !== undefined) lines.push(`Pull request ${num}:`, `  ${web}/discussions/${num}`);
    else if (branch === undefined || newSha === null) continue;
    else if (branch === repo.defaultBranch || !repo.hasDiscussions || oldSha !== null)
      lines.push(`${branch}:`, `  ${web}/commit/${newSha}`);
    else
      lines.push(
        `Open a pull request for ${branch}:`,
        `  ${web}/discussions/new?kind=pull-request&head=${encodeURIComponent(branch)}`,
      );
  }
  const watching = await countWatching(repo, "repo", db());
  if (watching > 0) lines.push(`${watching} ${watching === 1 ? "webhook" : "webhooks"} triggered: ${web}#webhooks`);
  return lines.length > 0 ? ["", ...lines, ""] : [];
}
