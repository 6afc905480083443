import Link from "next/link";
import type { Author } from "#core/hub/discussions/discussion.ts";

/** Who wrote it; whoever deleted their account has no page. */
export function AuthorName({ author, isStrong = false }: Readonly<{ author: Author; isStrong?: boolean }>) {
  const className = isStrong ? "break-words font-medium text-ink hover:underline" : "break-words hover:text-ink hover:underline";
  if (author.isGhost) return <span title={author.fullName}>{author.name}</span>;
  return (
    <Link prefetch={false} href={`/${author.name}`} title={author.fullName} className={className}>
      {author.name}
    </Link>
  );
}
