import { EyeOff, SmilePlus } from "lucide-react";
import type { Comment } from "#core/hub/discussions/discussion.ts";
import { reactions } from "#core/hub/discussions/react-to-comment.ts";
import { ActionForm } from "../../../../../../_components/action-form.client.tsx";
import { Avatar } from "../../../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../../../_components/avatar-src.ts";
import { buttonClass } from "../../../../../../_components/button.tsx";
import { Chip } from "../../../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../../../_components/confirm-destructive.client.tsx";
import { FormDetails } from "../../../../../../_components/form-details.client.tsx";
import { Markdown } from "../../../../../../_components/markdown.tsx";
import { MarkdownField } from "../../../../../../_components/markdown-field.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { SubmitButton } from "../../../../../../_components/submit-button.client.tsx";
import { repoHref } from "../../../../../../_server/repo-page.ts";
import { type CommentName, deleteCommentAction, editCommentAction, hideCommentAction, reactAction } from "../actions.ts";
import { AuthorName } from "../author-name.tsx";
import type { DiscussionPage } from "./discussion-page.ts";

type Props = Readonly<{ comment: Comment; at: CommentName; page: DiscussionPage }>;

/** What somebody said, and what can be done with it. */
export function CommentCard({ comment, at, page }: Props) {
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
          <Markdown text={content} place={{ base: repoHref(page.repo), idPrefix: `c-${id}-` }} />
        )}
      </div>
      <Acts {...{ comment, at, page, isOwn }} />
    </article>
  );
}

function Acts({ comment, at, page, isOwn }: Props & Readonly<{ isOwn: boolean }>) {
  const { mayComment, mayModerate } = page;
  const { isHidden } = comment;
  const mayRemove = isOwn || mayModerate;
  if ((isHidden || (comment.reactions.length === 0 && !mayComment)) && !mayRemove) return null;
  const which = `this comment${isOwn ? "" : ` by ${comment.author.name}`}`;
  return (
    <footer className="flex flex-wrap items-start gap-2 px-4 pb-3.5">
      {!isHidden && <Reactions {...{ comment, at, page }} />}
      {isOwn && mayComment && !isHidden && (
        <FormDetails
          key={comment.editCount}
          action={editCommentAction.bind(null, at)}
          values={{ content: comment.content }}
          trigger="Edit"
          keep="Stop editing"
          look={{ variant: "quiet", size: "small" }}
        >
          <MarkdownField name="content" label="Comment" rows={6} size="small">
            <SubmitButton size="small" name="intent" value="save">
              Save comment
            </SubmitButton>
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
          That it was there stays visible, its words do not. This cannot be taken back.
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
          Nothing will show that it was there. This cannot be taken back.
        </ConfirmDestructive>
      )}
    </footer>
  );
}

function Reactions({ comment, at, page: { mayComment } }: Props) {
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
    // Not named: each named form is a landmark, and there is one with each comment.
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
        <details key={others.join()} className="group">
          <summary className={buttonClass({ variant: "quiet", size: "icon" })} aria-label="React">
            <SmilePlus className="size-4" aria-hidden="true" />
          </summary>
          <div className="mt-2 flex flex-wrap gap-1">
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
        </details>
      )}
    </ActionForm>
  );
}
