import {
  CircleCheck,
  CircleDot,
  EyeOff,
  GitCommitHorizontal,
  GitMerge,
  Lock,
  LockOpen,
  type LucideIcon,
  Pencil,
  Pin,
  PinOff,
  SmilePlus,
} from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { reactions } from "#core/hub/discussions/comments.ts";
import type { Comment, TimelineEvent } from "#core/hub/discussions/discussion.ts";
import { ActionForm, SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../../../../../_components/avatar.tsx";
import { Chip } from "../../../../../../_components/chip.tsx";
import { classNames } from "../../../../../../_components/class-names.ts";
import { ConfirmDestructive, FormDetails } from "../../../../../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../../../../../_components/disclosure.client.tsx";
import { Markdown, type PageRoom, pageRoom } from "../../../../../../_components/markdown.tsx";
import { MarkdownField } from "../../../../../../_components/markdown-field.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { repoHref } from "../../../../../../_server/repo-page.ts";
import { type CommentName, deleteCommentAction, editCommentAction, hideCommentAction, reactAction } from "../actions.ts";
import { AuthorName } from "../status-chip.tsx";
import type { DiscussionPage } from "./discussion-page.ts";

type TimelineProps = Readonly<{
  events: readonly TimelineEvent[];
  number: number;
  page: DiscussionPage;
}>;

export function Timeline({ events, number, page }: TimelineProps) {
  const room = pageRoom();
  return (
    <ol aria-label="Timeline" className="grid gap-4">
      {events.map((event, index) => (
        <li key={event.id} id={index === events.length - 1 ? "latest" : undefined} className="min-w-0">
          {event.type === "comment" ? (
            <CommentCard comment={event} at={{ ...page.at, id: event.id, onPage: number }} page={page} room={room} />
          ) : (
            <Note event={event} page={page} />
          )}
        </li>
      ))}
    </ol>
  );
}

type OtherEvent = Exclude<TimelineEvent, { type: "comment" }>;

function Note({ event, page }: Readonly<{ event: OtherEvent; page: DiscussionPage }>) {
  const [Icon, words] = wordsFor(event, page);
  return (
    <p className="flex min-w-0 items-start gap-2.5 px-4 text-muted text-small">
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">
        <AuthorName author={event.author} isStrong /> {words} <RelativeTime at={event.createdAt} />
      </span>
    </p>
  );
}

const statuses = { draft: "made this a draft", open: "opened this", closed: "closed this", merged: "merged this" } as const;
const statusIcons = { draft: CircleDot, open: CircleDot, closed: CircleCheck, merged: GitMerge } as const;

function wordsFor(event: OtherEvent, { repo, discussion }: DiscussionPage): [LucideIcon, ReactNode] {
  switch (event.type) {
    case "status-change": {
      const isMerge = event.status === "merged" && discussion.mergeCommitSha;
      return [
        statusIcons[event.status],
        <>
          {statuses[event.status]}
          {isMerge && (
            <>
              {" "}
              in <CommitLink repo={repo} oid={discussion.mergeCommitSha ?? ""} />
            </>
          )}
        </>,
      ];
    }
    case "title-change":
      return [
        Pencil,
        <>
          changed the title from <del>{event.from}</del> to <ins className="text-ink no-underline">{event.to}</ins>
        </>,
      ];
    case "commit":
      return [
        GitCommitHorizontal,
        <>
          pushed <CommitLink repo={repo} oid={event.oid} /> <span className="text-ink">{event.subject}</span>
        </>,
      ];
    case "pinning-change":
      return event.isPinned ? [Pin, "pinned this"] : [PinOff, "unpinned this"];
    case "locking-change":
      return event.isLocked ? [Lock, "locked this"] : [LockOpen, "unlocked this"];
  }
}

function CommitLink({ repo, oid }: Readonly<{ repo: DiscussionPage["repo"]; oid: string }>) {
  return (
    <Link prefetch={false} href={repoHref(repo, "commit", oid)} className="link">
      <code>{oid.slice(0, 10)}</code>
    </Link>
  );
}

type CommentProps = Readonly<{ comment: Comment; at: CommentName; page: DiscussionPage }>;

function CommentCard({ comment, at, page, room }: CommentProps & Readonly<{ room: PageRoom }>) {
  const { id, author, createdAt, editedAt, isHidden, content } = comment;
  const isOwn = page.person !== undefined && comment.authorId === page.person.userId;
  return (
    <article
      id={id}
      aria-label={`Comment by ${author.name}`}
      className="min-w-0 scroll-mt-4 rounded-card border border-line bg-surface target:border-ink"
    >
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1 border-line border-b px-4 py-2.5 text-small">
        <Avatar name={author.name} src={author.isGhost ? undefined : avatarSrc(author.name, null)} size="sm" />
        <AuthorName author={author} isStrong />
        <a href={`#${id}`} className="text-muted hover:underline">
          <RelativeTime at={createdAt} />
        </a>
        {editedAt && !isHidden && (
          <span className="text-muted">
            · edited <RelativeTime at={editedAt} />
          </span>
        )}
        {comment.authorId === page.discussion.authorId && !author.isGhost && <Chip>Author</Chip>}
      </header>
      <div className="px-4 py-3.5">
        {isHidden ? (
          <p className="flex items-center gap-2 text-muted text-small">
            <EyeOff className="size-4" aria-hidden="true" />
            This comment was hidden.
          </p>
        ) : (
          <Markdown text={content} context={{ base: repoHref(page.repo), idPrefix: `c-${id}-` }} room={room} />
        )}
      </div>
      <CommentActions {...{ comment, at, page, isOwn }} />
    </article>
  );
}

function CommentActions({ comment, at, page, isOwn }: CommentProps & Readonly<{ isOwn: boolean }>) {
  const { mayComment, mayModerate } = page;
  const { isHidden } = comment;
  const mayRemove = isOwn || mayModerate;
  if ((isHidden || (comment.reactions.length === 0 && !mayComment)) && !mayRemove) return null;
  const which = `this comment${isOwn ? "" : ` by ${comment.author.name}`}`;
  return (
    <footer className={classNames("flex flex-wrap items-start gap-1 px-4 pb-3.5 sm:gap-2", isHidden && "-ml-1.5 sm:-ml-3")}>
      {!isHidden && <Reactions {...{ comment, at, page }} />}
      {/* The buttons stay together. On a narrow screen they also fit beside one reaction. */}
      <div className="flex flex-wrap items-start gap-1 empty:hidden has-[details[open]]:w-full max-sm:[&_summary]:px-1.5 sm:gap-2">
        {isOwn && mayComment && !isHidden && (
          <FormDetails
            key={comment.editCount}
            action={editCommentAction.bind(null, at)}
            values={{ content: comment.content }}
            trigger="Edit"
            look={{ variant: "quiet", size: "small" }}
          >
            <MarkdownField name="content" label="Comment" rows={6} size="small">
              <SubmitButton size="small" name="intent" value="save">
                Save comment
              </SubmitButton>
              <CancelButton size="small" />
            </MarkdownField>
          </FormDetails>
        )}
        {mayRemove && !isHidden && (
          <ConfirmDestructive
            action={hideCommentAction.bind(null, at)}
            trigger="Hide"
            title={`Hide ${which}?`}
            confirm="Hide the comment"
            size="small"
            isQuiet
          >
            The text is deleted, but readers see that there was a comment. This cannot be undone.
          </ConfirmDestructive>
        )}
        {mayRemove && (
          <ConfirmDestructive
            action={deleteCommentAction.bind(null, at)}
            trigger="Delete"
            title={`Delete ${which}?`}
            confirm="Delete the comment"
            size="small"
            isQuiet
          >
            The comment disappears completely. This cannot be undone.
          </ConfirmDestructive>
        )}
      </div>
    </footer>
  );
}

function Reactions({ comment, at, page: { mayComment } }: CommentProps) {
  const words: Record<string, string> = reactions;
  if (!mayComment) {
    return (
      <ul aria-label="Reactions" className="flex flex-wrap gap-2 empty:hidden">
        {comment.reactions.map(({ reaction, count }) => (
          <li key={reaction} className="inline-flex h-8 items-center gap-1.5 rounded-full border border-line px-2.5 text-small">
            <span role="img" aria-label={words[reaction]}>
              {reaction}
            </span>
            {count}
          </li>
        ))}
      </ul>
    );
  }
  const others = Object.keys(words).filter((one) => !comment.reactions.some(({ reaction }) => reaction === one));
  const look = "inline-flex h-8 items-center gap-1.5 rounded-full border px-2.5 text-small hover:bg-sunken";
  return (
    // The form has no label, because each labeled form would be a landmark, and every comment has a form.
    <ActionForm action={reactAction.bind(null, at)} className="flex flex-wrap items-start gap-2">
      {comment.reactions.map(({ reaction, count, isOwn }) => (
        <button
          key={reaction}
          type="submit"
          name="reaction"
          value={`${isOwn ? "-" : "+"}${reaction}`}
          aria-pressed={isOwn}
          aria-label={`${words[reaction]}, ${count}`}
          className={`${look} ${isOwn ? "border-ink font-medium" : "border-line"}`}
        >
          <span aria-hidden="true">{reaction}</span>
          {count}
        </button>
      ))}
      {others.length > 0 && (
        <Disclosure
          key={others.join()}
          trigger={<SmilePlus className="size-4" role="img" aria-label="React" />}
          look={{ variant: "quiet", size: "icon" }}
          className="relative"
        >
          <div className="absolute top-full left-0 z-20 mt-1 flex w-52 flex-wrap gap-1 rounded-control border border-line bg-surface p-2 shadow-menu">
            {others.map((reaction) => (
              <button
                key={reaction}
                type="submit"
                name="reaction"
                value={`+${reaction}`}
                aria-label={words[reaction]}
                className={`${look} border-line`}
              >
                <span aria-hidden="true">{reaction}</span>
              </button>
            ))}
          </div>
        </Disclosure>
      )}
    </ActionForm>
  );
}
