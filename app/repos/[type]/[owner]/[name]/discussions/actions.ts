"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { Actor, Person } from "#core/access/actor.ts";
import { addComment, deleteComment, editComment, hideComment, reactToComment } from "#core/hub/discussions/comments.ts";
import { deleteDiscussion, deletePullRequestRef } from "#core/hub/discussions/delete-discussion.ts";
import { parseDescription } from "#core/hub/discussions/discussion.ts";
import { type DiscussionName, findDiscussion } from "#core/hub/discussions/find-discussion.ts";
import { mergePullRequest } from "#core/hub/discussions/merge-pull-request.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { changeStatus, changeTitle, setLocked, setPinned } from "#core/hub/discussions/properties.ts";
import { EVENTS_ON_A_PAGE, readTimeline } from "#core/hub/discussions/read-timeline.ts";
import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { PREVIEW } from "../../../../../_components/form-state.ts";
import { type FormOutcome, formAction, optional, type Scope, text } from "../../../../../_server/form-action.ts";
import { refreshOrRedirect } from "../../../../../_server/refresh-or-redirect.ts";
import { repoNameHref, submittedRepoName } from "../../../../../_server/repo-page.ts";
import { repoAt } from "../../../../../_server/scopes.ts";
import { personLookup, requirePerson } from "../../../../../_server/session.ts";

/** `onPage` is the page of the timeline that shows the comment. */
export type CommentName = DiscussionName & Readonly<{ id: string; onPage: number }>;

/** core decides whether the user may act on the discussion or comment. */
function discussionScope<At extends DiscussionName>(): Scope<[at: At], Readonly<{ person: Person; at: At; page: string }>> {
  return {
    argumentCount: 1,
    enter: async (_form, bound) => {
      const at = { ...Object(bound), repo: submittedRepoName(Object(bound).repo) } as At;
      const page = discussionHref(at);
      return { person: await requirePerson(page), at, page };
    },
  };
}

const discussion = discussionScope<DiscussionName>();
const comment = discussionScope<CommentName>();

const words = { intent: text, title: text, description: text };

export const openDiscussionAction = formAction(repoAt("/discussions/new"), words, async ({ person, repo, input }) => {
  const { intent, ...post } = input;
  if (intent === PREVIEW) return preview(repo, "description", post.description);
  const { row } = await openDiscussion(person, await findRepo(person, repo), post);
  redirectTo(discussionHref({ repo, num: row.num }));
});

export const openPullRequestAction = formAction(
  repoAt("/discussions/new?kind=pull-request"),
  { ...words, base: text, head: optional },
  async ({ person, repo, input: { intent, base, head, ...post } }) => {
    if (intent === PREVIEW) return preview(repo, "description", post.description);
    const found = await findRepo(person, repo);
    const branches = { base: base || found.defaultBranch, ...(head && { head: { branch: head } }) };
    const { row } = await openPullRequest(person, found, { ...post, ...branches });
    redirectTo(discussionHref({ repo, num: row.num }));
  },
);

export const commentAction = formAction(
  discussion,
  { intent: text, comment: text },
  async ({ person, at, input: { intent, comment } }) => {
    if (intent === PREVIEW) return preview(at.repo, "comment", comment);
    if (intent === "close") await changeStatus(person, at, { status: "closed", comment });
    else if (intent === "reopen") await changeStatus(person, at, { status: "open", comment });
    else await addComment(person, at, { comment });
    redirectTo(await latestHref(person, at));
  },
);

export const editCommentAction = formAction(
  comment,
  { intent: text, content: text },
  async ({ person, at, input: { intent, content } }) => {
    if (intent === PREVIEW) return preview(at.repo, "content", content);
    await editComment(person, at, at.id, { content });
    return refreshOrRedirect(commentHref(at));
  },
);

export const hideCommentAction = formAction(comment, {}, async ({ person, at, from }) => {
  await hideComment(person, at, at.id, from);
  return refreshOrRedirect(commentHref(at));
});

export const deleteCommentAction = formAction(comment, {}, async ({ person, at, from }) => {
  await deleteComment(person, at, at.id, from);
  return refreshOrRedirect(`${discussionHref(at)}${pageQuery(at.onPage)}`);
});

/** `+` adds and `-` removes: `+👍`, `-👍`. */
export const reactAction = formAction(comment, { reaction: text }, async ({ person, at, input }) => {
  const [sign, ...reaction] = input.reaction;
  await reactToComment(person, at, at.id, { reaction: reaction.join(""), isOn: sign === "+" });
  return refreshOrRedirect(commentHref(at));
});

export const changeTitleAction = formAction(discussion, { title: text }, async ({ person, at, page, input }) => {
  await changeTitle(person, at, input);
  return refreshOrRedirect(page);
});

export const markReadyAction = formAction(discussion, {}, async ({ person, at, page }) => {
  await changeStatus(person, at, { status: "open" });
  return refreshOrRedirect(page);
});

export const mergeAction = formAction(
  discussion,
  { headSha: text, isFastForward: (form) => form.isTicked("fastForward") },
  async ({ person, at, input }) => {
    await mergePullRequest(person, at, input, await personLookup());
    redirectTo(await latestHref(person, at));
  },
);

export const moderateAction = formAction(discussion, { intent: text }, async ({ person, at, page, input: { intent }, from }) => {
  if (intent === "pin" || intent === "unpin") await setPinned(person, at, intent === "pin");
  if (intent === "lock" || intent === "unlock") await setLocked(person, at, intent === "lock", from);
  return refreshOrRedirect(page);
});

export const deleteDiscussionAction = formAction(discussion, {}, async ({ person, at, from }) => {
  await deleteDiscussion(person, at, from, await personLookup());
  redirectTo(`${repoNameHref(at.repo, "discussions")}?notice=deleted`);
});

export const deleteRefAction = formAction(discussion, {}, async ({ person, at, page }) => {
  await deletePullRequestRef(person, at, await personLookup());
  return refreshOrRedirect(page);
});

/** Rendering takes time, so the scope has required a signed-in user (S137). */
async function preview(repo: RepoName, name: string, text: string): Promise<FormOutcome> {
  const description = parseDescription(text, name);
  const context = { base: repoNameHref(repo), idPrefix: "preview-" };
  return { preview: description ? ((await renderMarkdown(description, context)) ?? null) : null };
}

async function latestHref(person: Actor, at: DiscussionName): Promise<string> {
  const { discussion } = await findDiscussion(person, at);
  const { total } = await readTimeline(person, discussion, { pageSize: 1 });
  return `${discussionHref(at)}${pageQuery(Math.ceil(total / EVENTS_ON_A_PAGE))}#latest`;
}

const commentHref = (at: CommentName): string => `${discussionHref(at)}${pageQuery(at.onPage)}#${at.id}`;

const pageQuery = (page: number): string => (typeof page === "number" && page > 1 ? `?page=${page}` : "");

/** Without the revalidation, a browser that already shows this page would show an old copy. */
function redirectTo(href: string): never {
  revalidatePath("/", "layout");
  redirect(href);
}

const discussionHref = ({ repo, num }: DiscussionName): string =>
  repoNameHref(repo, "discussions", typeof num === "number" ? String(num) : "");
