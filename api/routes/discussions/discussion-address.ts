import { z } from "@hono/zod-openapi";
import type { RepoType } from "@keyhook/sdk";
import type { DiscussionName } from "#core/hub/discussions/find-discussion.ts";
import { repoParams } from "../repos/repo-address.ts";

/** `{owner}/{name}/discussions/{num}` of a URL. */
export const discussionParams = repoParams.extend({ num: z.string() });
export const commentParams = discussionParams.extend({ commentId: z.string() });

/** The same in core's terms; a text that is not a number finds nothing. */
export function discussionName(
  type: RepoType,
  { owner, name, num }: { owner: string; name: string; num: string },
): DiscussionName {
  return { repo: { type, owner, name }, num: /^\d{1,10}$/.test(num) ? Number(num) : Number.NaN };
}
