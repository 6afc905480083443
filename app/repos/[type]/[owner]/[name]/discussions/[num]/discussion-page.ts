import { notFound } from "next/navigation";
import { cache } from "react";
import { may } from "#core/access/may.ts";
import type { Discussion } from "#core/hub/discussions/discussion.ts";
import { type DiscussionName, findDiscussion } from "#core/hub/discussions/find-discussion.ts";
import { repoResource } from "#core/hub/repos/repo.ts";
import { orNotFound } from "../../../../../../_server/or-not-found.ts";
import { type RepoPage, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";

export type DiscussionParams = Promise<{ type: string; owner: string; name: string; num: string }>;

export type DiscussionPage = RepoPage &
  Readonly<{
    discussion: Discussion;
    at: DiscussionName;
    href: string;
    mayComment: boolean;
    mayUpdate: boolean;
    mayModerate: boolean;
    mayMerge: boolean;
  }>;

export async function discussionPage(params: DiscussionParams): Promise<DiscussionPage> {
  const { type, owner, name, num } = await params;
  return readDiscussionPage(type, owner, name, num);
}

const readDiscussionPage = cache(async (type: string, owner: string, name: string, num: string): Promise<DiscussionPage> => {
  const page = await repoPage(Promise.resolve({ type, owner, name }));
  const { repo, actor } = page;
  if (!/^[1-9]\d{0,9}$/.test(num)) notFound();
  const at = { repo: { type: repo.type, owner: repo.owner.handle, name: repo.name }, num: Number(num) };
  const { discussion } = await orNotFound(findDiscussion(actor, at));
  const resource = repoResource(repo);
  const [mayWrite, mayModerate, mayUpdate, mayMerge] = await Promise.all([
    may(actor, "discussion.write", resource),
    may(actor, "discussion.moderate", resource),
    may(actor, "discussion.update", { repo: resource, authorId: discussion.authorId }),
    may(actor, "discussion.merge", resource),
  ]);
  const isUnlocked = !discussion.isLocked || mayModerate;
  return {
    ...page,
    discussion,
    at,
    href: repoHref(repo, "discussions", num),
    mayComment: mayWrite && isUnlocked,
    mayUpdate: mayUpdate && isUnlocked,
    mayModerate,
    mayMerge: mayMerge && !repo.isReadOnly,
  };
});
