import {
  CircleCheck,
  CircleDot,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  GitPullRequestDraft,
  type LucideIcon,
} from "lucide-react";
import Link from "next/link";
import type { Author, Discussion } from "#core/hub/discussions/discussion.ts";
import { Chip, type ChipProps } from "../../../../../_components/chip.tsx";

type Look = Readonly<{ Icon: LucideIcon; word: string; tone: NonNullable<ChipProps["tone"]>; ink: string }>;

const ofPullRequest: Record<Discussion["status"], Look> = {
  draft: { Icon: GitPullRequestDraft, word: "Draft", tone: "neutral", ink: "text-muted" },
  open: { Icon: GitPullRequest, word: "Open", tone: "good", ink: "text-good" },
  closed: { Icon: GitPullRequestClosed, word: "Closed", tone: "bad", ink: "text-bad" },
  merged: { Icon: GitMerge, word: "Merged", tone: "good", ink: "text-brand" },
};
const ofDiscussion: Record<"open" | "closed", Look> = {
  open: { Icon: CircleDot, word: "Open", tone: "good", ink: "text-good" },
  closed: { Icon: CircleCheck, word: "Closed", tone: "neutral", ink: "text-muted" },
};

type Props = Readonly<{ discussion: Pick<Discussion, "status" | "isPullRequest"> }>;

function lookOf({ status, isPullRequest }: Props["discussion"]): Look {
  return isPullRequest ? ofPullRequest[status] : ofDiscussion[status === "open" ? "open" : "closed"];
}

export function StatusChip({ discussion }: Props) {
  const { Icon, word, tone } = lookOf(discussion);
  return (
    <Chip tone={tone}>
      <Icon className="size-3.5" aria-hidden="true" />
      {word}
    </Chip>
  );
}

export function StatusIcon({ discussion }: Props) {
  const { Icon, word, ink } = lookOf(discussion);
  const kind = discussion.isPullRequest ? "pull request" : "discussion";
  return (
    <span className={ink} title={`${word} ${kind}`}>
      <Icon className="size-5" aria-hidden="true" />
      <span className="sr-only">{`${word} ${kind}: `}</span>
    </span>
  );
}

/** A deleted account has no page. */
export function AuthorName({ author, isStrong = false }: Readonly<{ author: Author; isStrong?: boolean }>) {
  const className = isStrong ? "break-words font-medium text-ink hover:underline" : "break-words hover:text-ink hover:underline";
  if (author.isGhost) return <span title={author.fullName}>{author.name}</span>;
  return (
    <Link prefetch={false} href={`/${author.name}`} title={author.fullName} className={className}>
      {author.name}
    </Link>
  );
}
