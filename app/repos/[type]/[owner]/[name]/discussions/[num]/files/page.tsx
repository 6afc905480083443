import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { pullRequestRange } from "#core/hub/discussions/read-pull-request.ts";
import { EMPTY_TREE, readDiff } from "#core/hub/git/read/read-diff.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { DiffView } from "../../../../../../../_components/diff-view.tsx";
import { FormMessage } from "../../../../../../../_components/page-layout.tsx";
import { repoFileHref } from "../../../../../../../_server/repo-page.ts";
import { DiscussionHeader } from "../discussion-header.tsx";
import { type DiscussionPage, type DiscussionParams, discussionPage } from "../discussion-page.ts";

type Props = Readonly<{ params: DiscussionParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const page = await discussionPage(params).catch(() => undefined);
  return page ? { title: `Files changed in #${page.discussion.num}` } : {};
}

/** A merged pull request shows the changes at the time of the merge. */
export default async function FilesChangedPage({ params }: Props) {
  const page = await discussionPage(params);
  if (!page.discussion.isPullRequest) notFound();
  return (
    <div className="grid gap-5">
      <DiscussionHeader page={page} />
      <Changes page={page} />
    </div>
  );
}

async function Changes({ page: { repo, discussion, mayReadContent } }: Readonly<{ page: DiscussionPage }>) {
  const range = await pullRequestRange(repo, discussion);
  if (!range) return <FormMessage>This pull request has no commits: none were pushed, or they were deleted.</FormMessage>;
  const { headSha, baseSha } = range;
  const diff = await readDiff(await openRepository(repo), baseSha ?? EMPTY_TREE, headSha, {
    sinceMergeBase: baseSha !== null,
    withLines: mayReadContent,
  });
  return (
    <DiffView
      diff={diff}
      hrefOf={({ status, path }) => (status === "deleted" ? undefined : repoFileHref(repo, "blob", headSha, path))}
      {...(!mayReadContent && { withheld: "Only people with access can see the lines." })}
    />
  );
}
