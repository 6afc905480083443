import {
  CircleCheck,
  CircleDot,
  GitCommitHorizontal,
  GitMerge,
  Lock,
  LockOpen,
  type LucideIcon,
  Pencil,
  Pin,
  PinOff,
} from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { TimelineEvent } from "#core/hub/discussions/discussion.ts";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { repoHref } from "../../../../../../_server/repo-page.ts";
import { AuthorName } from "../author-name.tsx";
import { CommentCard } from "./comment-card.tsx";
import type { DiscussionPage } from "./discussion-page.ts";

type Props = Readonly<{
  events: readonly TimelineEvent[];
  /** Of the page of the timeline that they are. */
  number: number;
  page: DiscussionPage;
}>;

/** What happened, the oldest first. */
export function Timeline({ events, number, page }: Props) {
  return (
    <ol aria-label="What happened" className="grid gap-4">
      {events.map((event, index) => (
        <li key={event.id} id={index === events.length - 1 ? "latest" : undefined} className="min-w-0">
          {event.type === "comment" ? (
            <CommentCard comment={event} at={{ ...page.at, id: event.id, onPage: number }} page={page} />
          ) : (
            <Note event={event} page={page} />
          )}
        </li>
      ))}
    </ol>
  );
}

type Happening = Exclude<TimelineEvent, { type: "comment" }>;

function Note({ event, page }: Readonly<{ event: Happening; page: DiscussionPage }>) {
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

function wordsFor(event: Happening, { repo, discussion }: DiscussionPage): [LucideIcon, ReactNode] {
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
          changed the title from <del>{event.from}</del> to <ins className="no-underline">{event.to}</ins>
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
      <code>{oid.slice(0, 7)}</code>
    </Link>
  );
}
