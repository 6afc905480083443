"use server";

import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { Actor } from "#core/access/actor.ts";
import { addComment } from "#core/hub/discussions/add-comment.ts";
import { changeStatus } from "#core/hub/discussions/change-status.ts";
import { changeTitle } from "#core/hub/discussions/change-title.ts";
import { deleteComment } from "#core/hub/discussions/delete-comment.ts";
import { deleteDiscussion } from "#core/hub/discussions/delete-discussion.ts";
import { deletePullRequestRef } from "#core/hub/discussions/delete-pull-request-ref.ts";
import { editComment } from "#core/hub/discussions/edit-comment.ts";
import { type DiscussionName, findDiscussion } from "#core/hub/discussions/find-discussion.ts";
import { hideComment } from "#core/hub/discussions/hide-comment.ts";
import { mergePullRequest } from "#core/hub/discussions/merge-pull-request.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { parseDescription } from "#core/hub/discussions/parse-text.ts";
import { reactToComment } from "#core/hub/discussions/react-to-comment.ts";
import { EVENTS_ON_A_PAGE, readTimeline } from "#core/hub/discussions/read-timeline.ts";
import { setLocked } from "#core/hub/discussions/set-locked.ts";
import { setPinned } from "#core/hub/discussions/set-pinned.ts";
import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import type { FormState } from "../../../../../_components/form-state.ts";
import type { PreviewState } from "../../../../../_components/markdown-field.client.tsx";
import { type FormOutcome, submitForm } from "../../../../../_server/form.ts";
import { repoHref, submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requestOrigin } from "../../../../../_server/request-origin.ts";
import { requirePerson } from "../../../../../_server/session.ts";
import type { SubmittedForm } from "../../../../../_server/submitted-form.ts";

// What each action is bound to only names things; whether the person may is core's decision.

/** A comment, and on which page of the timeline whoever acts has it before them. */
export type CommentName = DiscussionName & Readonly<{ id: string; onPage: number }>;

export async function openDiscussionAction(repo: RepoName, _previous: FormState, data: FormData): Promise<PreviewState> {
  return withPreview(repo, data, "description", async (form) => {
    const person = await requirePerson(`${hrefOf(repo)}/new`);
    const words = { title: form.text("title"), description: form.text("description") };
    const found = await findRepo(person, repo);
    const { row } = await openDiscussion(person, found, words);
    show(discussionHref({ repo, num: row.num }));
  });
}

export async function openPullRequestAction(repo: RepoName, _previous: FormState, data: FormData): Promise<PreviewState> {
  return withPreview(repo, data, "description", async (form) => {
    const person = await requirePerson(`${hrefOf(repo)}/new?kind=pull-request`);
    const branch = form.optional("head");
    const found = await findRepo(person, repo);
    const { row } = await openPullRequest(person, found, {
      title: form.text("title"),
      description: form.text("description"),
      base: form.text("base") || found.defaultBranch,
      ...(branch && { head: { branch } }),
    });
    show(discussionHref({ repo, num: row.num }));
  });
}

/** Comments, closes or opens again, or both, by the button that was pressed. */
export async function commentAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<PreviewState> {
  return withPreview(Object(at).repo, data, "comment", async (form) => {
    const person = await requirePerson(discussionHref(at));
    const intent = form.text("intent");
    const comment = form.text("comment");
    if (intent === "close" || intent === "reopen") {
      const status = intent === "close" ? "closed" : "open";
      await changeStatus(person, at, { status, comment });
    } else {
      await addComment(person, at, { comment });
    }
    show(await latestHref(person, at));
  });
}

export async function editCommentAction(at: CommentName, _previous: FormState, data: FormData): Promise<PreviewState> {
  return withPreview(Object(at).repo, data, "content", async (form) => {
    const person = await requirePerson(discussionHref(at));
    await editComment(person, at, at.id, { content: form.text("content") });
    return showHere(commentHref(at));
  });
}

export async function hideCommentAction(at: CommentName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await hideComment(await requirePerson(discussionHref(at)), at, at.id, await requestOrigin());
    return showHere(commentHref(at));
  });
}

export async function deleteCommentAction(at: CommentName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await deleteComment(await requirePerson(discussionHref(at)), at, at.id, await requestOrigin());
    return showHere(`${discussionHref(at)}${pageQuery(at.onPage)}`);
  });
}

/** The button says which, and whether it is on: `+👍`, `-👍`. */
export async function reactAction(at: CommentName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [sign, ...reaction] = form.text("reaction");
    const input = { reaction: reaction.join(""), isOn: sign === "+" };
    await reactToComment(await requirePerson(discussionHref(at)), at, at.id, input);
    return showHere(commentHref(at));
  });
}

export async function changeTitleAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await changeTitle(await requirePerson(discussionHref(at)), at, { title: form.text("title") });
    return showHere(discussionHref(at));
  });
}

export async function markReadyAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await changeStatus(await requirePerson(discussionHref(at)), at, { status: "open" });
    return showHere(discussionHref(at));
  });
}

export async function mergeAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(discussionHref(at));
    await mergePullRequest(person, at, { headSha: form.text("headSha"), isFastForward: form.isTicked("fastForward") });
    show(await latestHref(person, at));
  });
}

export async function moderateAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(discussionHref(at));
    const intent = form.text("intent");
    if (intent === "pin" || intent === "unpin") await setPinned(person, at, intent === "pin");
    if (intent === "lock" || intent === "unlock") await setLocked(person, at, intent === "lock", await requestOrigin());
    return showHere(discussionHref(at));
  });
}

export async function deleteDiscussionAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await deleteDiscussion(await requirePerson(discussionHref(at)), at, await requestOrigin());
    show(`${hrefOf(at.repo)}?notice=deleted`);
  });
}

export async function deleteRefAction(at: DiscussionName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await deletePullRequestRef(await requirePerson(discussionHref(at)), at);
    return showHere(discussionHref(at));
  });
}

/** Lays the field's text out instead, when that is the button that was pressed. */
async function withPreview(
  repo: RepoName,
  data: FormData,
  field: string,
  work: (form: SubmittedForm) => Promise<FormOutcome | undefined>,
): Promise<PreviewState> {
  let preview: PreviewState["preview"];
  const state = await submitForm(data, async (form) => {
    if (form.text("intent") !== "preview") return work(form);
    // Laying out takes time, so it is for whoever may send it (S137).
    await requirePerson(hrefOf(repo));
    const text = parseDescription(form.text(field), field);
    const place = { base: repoHref(addressOf(submittedRepoName(repo))), idPrefix: "preview-" };
    preview = text ? ((await renderMarkdown(text, place)) ?? null) : null;
    return {};
  });
  return preview === undefined ? state : { ...state, preview };
}

/** Where the last thing that happened is shown. */
async function latestHref(person: Actor, at: DiscussionName): Promise<string> {
  const { discussion } = await findDiscussion(person, at);
  const { total } = await readTimeline(person, discussion, { pageSize: 1 });
  return `${discussionHref(at)}${pageQuery(Math.ceil(total / EVENTS_ON_A_PAGE))}#latest`;
}

const commentHref = (at: CommentName): string => `${discussionHref(at)}${pageQuery(at.onPage)}#${at.id}`;

const pageQuery = (page: number): string => (typeof page === "number" && page > 1 ? `?page=${page}` : "");

/**
 * Shows what has changed where it stands. With scripts the page is not left for that: what is half written elsewhere on it stays. Without
 * them the browser goes to `href`, so that reloading does not send the form again.
 */
async function showHere(href: string): Promise<FormOutcome> {
  revalidatePath("/", "layout");
  if ((await headers()).has("next-action")) return {};
  redirect(href);
}

/** Goes to a page that shows what has changed: a browser that is there but for the hash would keep what it has. */
function show(href: string): never {
  revalidatePath("/", "layout");
  redirect(href);
}

const addressOf = ({ type, owner, name }: RepoName) => ({ type, fullName: `${owner}/${name}` });

// What an action is bound to comes back from the browser.
const hrefOf = (repo: RepoName): string => repoHref(addressOf(submittedRepoName(repo)), "discussions");

const discussionHref = (at: DiscussionName): string => {
  const { repo, num } = Object(at) as DiscussionName;
  return `${hrefOf(repo)}/${typeof num === "number" ? num : ""}`;
};
