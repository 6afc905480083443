import type { Metadata } from "next";
import type { Page } from "#core/accounts/page.ts";
import type { TimelineEvent } from "#core/hub/discussions/discussion.ts";
import { readTimeline } from "#core/hub/discussions/read-timeline.ts";
import { ActionForm, SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { ConfirmDestructive } from "../../../../../../_components/details-form.client.tsx";
import { Pagination } from "../../../../../../_components/list.tsx";
import { MarkdownField } from "../../../../../../_components/markdown-field.client.tsx";
import { FormMessage } from "../../../../../../_components/page-layout.tsx";
import { signInPath } from "../../../../../../_server/next-path.ts";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { commentAction, deleteDiscussionAction, moderateAction } from "../actions.ts";
import { DiscussionHeader } from "./discussion-header.tsx";
import { type DiscussionPage, type DiscussionParams, discussionPage } from "./discussion-page.ts";
import { MergeBox } from "./merge-box.tsx";
import { Timeline } from "./timeline.tsx";

type Props = Readonly<{ params: DiscussionParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const page = await discussionPage(params).catch(() => undefined);
  return page ? { title: `${page.discussion.title} (#${page.discussion.num})` } : {};
}

export default async function DiscussionConversationPage({ params, searchParams }: Props) {
  const [page, query] = await Promise.all([discussionPage(params), searchParams]);
  const { actor, discussion, href, mayModerate } = page;
  const timeline = await readTimeline(actor, discussion, { page: Number(textOf(query.page)) });
  return (
    <div className="grid w-full grid-cols-1 gap-5 *:max-w-discussion">
      <DiscussionHeader page={page} />
      {timeline.items.length > 0 && <Timeline events={timeline.items} number={timeline.page} page={page} />}
      <Pagination
        label="timeline"
        page={timeline.page}
        pageSize={timeline.pageSize}
        total={timeline.total}
        isByLength
        hrefOf={(number) => (number > 1 ? `${href}?page=${number}` : href)}
      />
      {discussion.isPullRequest && <MergeBox page={page} />}
      <CommentForm page={page} timeline={timeline} />
      {mayModerate && <Moderation page={page} />}
    </div>
  );
}

type CommentFormProps = Readonly<{ page: DiscussionPage; timeline: Page<TimelineEvent> }>;

function CommentForm({ page, timeline }: CommentFormProps) {
  const { at, discussion, href, person, mayComment, mayUpdate, mayMerge } = page;
  if (!person) {
    return (
      <div className="border-line border-t pt-5">
        <ButtonLink href={signInPath(href)}>Sign in to comment</ButtonLink>
      </div>
    );
  }
  const { status, isPullRequest } = discussion;
  if (!mayComment) {
    const kind = isPullRequest ? "pull request" : "discussion";
    return <FormMessage>This {kind} is locked: only the repository's maintainers can comment.</FormMessage>;
  }
  const isOpen = status === "open" || status === "draft";
  // A page has one primary button, for the main action.
  const isForMerging = isPullRequest && isOpen && mayMerge;
  // The key empties the field after the user's own comment, but not when others comment.
  const lastComment = timeline.items.findLast(({ type, authorId }) => type === "comment" && authorId === person.userId);
  return (
    <ActionForm
      key={lastComment?.id}
      action={commentAction.bind(null, at)}
      label="Comment"
      className="grid gap-3 border-line border-t pt-5"
    >
      <MarkdownField name="comment" label="Your comment">
        <SubmitButton name="intent" value="comment" variant={isForMerging ? "secondary" : "primary"}>
          Comment
        </SubmitButton>
        {mayUpdate && isOpen && (
          <SubmitButton name="intent" value="close" variant="secondary">
            Close
          </SubmitButton>
        )}
        {mayUpdate && status === "closed" && (
          <SubmitButton name="intent" value="reopen" variant="secondary">
            Reopen
          </SubmitButton>
        )}
      </MarkdownField>
      {mayUpdate && status !== "merged" && (
        <p className="text-muted text-small">{isOpen ? "Closing" : "Reopening"} also posts your comment above.</p>
      )}
    </ActionForm>
  );
}

function Moderation({ page: { at, discussion } }: Readonly<{ page: DiscussionPage }>) {
  const { isPinned, isLocked, isPullRequest, num, title } = discussion;
  const kind = isPullRequest ? "pull request" : "discussion";
  return (
    <section aria-label="Moderation" className="flex flex-wrap items-start gap-2 border-line border-t pt-5">
      <ActionForm action={moderateAction.bind(null, at)} label="Moderation" className="flex flex-wrap gap-2">
        <SubmitButton name="intent" value={isPinned ? "unpin" : "pin"} variant="secondary" size="small">
          {isPinned ? "Unpin" : "Pin"}
        </SubmitButton>
        <SubmitButton name="intent" value={isLocked ? "unlock" : "lock"} variant="secondary" size="small">
          {isLocked ? "Unlock" : "Lock"}
        </SubmitButton>
      </ActionForm>
      <ConfirmDestructive
        action={deleteDiscussionAction.bind(null, at)}
        trigger={`Delete this ${kind}`}
        title={
          <>
            Delete #{num}, <q>{title}</q>?
          </>
        }
        confirm={`Delete #${num}`}
        size="small"
      >
        The whole conversation is deleted
        {isPullRequest && ", and so are the pull request's commits, unless a branch or tag contains them"}. This cannot be undone.
      </ConfirmDestructive>
    </section>
  );
}
