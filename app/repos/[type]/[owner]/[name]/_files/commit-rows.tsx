import Link from "next/link";
import { type Author, bodyOf, type Commit, type Signature } from "#core/hub/git/read/commit.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { Avatar, avatarSrc } from "../../../../../_components/avatar.tsx";
import { CopyButton } from "../../../../../_components/copy-button.client.tsx";
import { ListRow } from "../../../../../_components/list.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { repoFileHref, repoHref } from "../../../../../_server/repo-page.ts";

type CommitRowProps = Readonly<{ repo: Repo; commit: Commit; account: Author | undefined; now: Date }>;

export function CommitRow({ repo, commit, account, now }: CommitRowProps) {
  const { sha, title, author } = commit;
  const body = bodyOf(commit);
  return (
    <ListRow
      title={
        <Link prefetch={false} href={repoHref(repo, "commit", sha)} className="wrap-anywhere min-w-0 hover:underline">
          {title || "(no message)"}
        </Link>
      }
      meta={
        <span className="flex flex-wrap items-center gap-x-2">
          <CommitAuthor signature={author} account={account} />
          <RelativeTime at={author.at} now={now} />
        </span>
      }
      trailing={
        <>
          <Link
            prefetch={false}
            href={repoFileHref(repo, "tree", sha)}
            className="font-mono text-muted text-small hover:underline"
          >
            <span className="sr-only">Files at </span>
            {sha.slice(0, 10)}
          </Link>
          <CopyButton value={sha} label={`ID of commit ${sha.slice(0, 10)}`} />
        </>
      }
    >
      {body && (
        <details className="mt-1 text-small">
          <summary className="text-muted hover:text-ink">Rest of the message</summary>
          <pre className="mt-1 whitespace-pre-wrap break-words font-sans">{body}</pre>
        </details>
      )}
    </ListRow>
  );
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

export function byDay(commits: readonly Commit[]): { day: string; commits: Commit[] }[] {
  const days: { day: string; commits: Commit[] }[] = [];
  for (const commit of commits) {
    const name = day.format(commit.author.at);
    const last = days.at(-1);
    if (last?.day === name) last.commits.push(commit);
    else days.push({ day: name, commits: [commit] });
  }
  return days;
}

export function CommitAuthor({ signature, account }: Readonly<{ signature: Signature; account: Author | undefined }>) {
  const name = signature.name || "(nobody)";
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <Avatar size="xs" name={name} src={account && avatarSrc(account.username, account.avatarId)} />
      {account ? (
        <Link prefetch={false} href={`/${account.username}`} className="truncate font-medium hover:underline">
          {account.username}
        </Link>
      ) : (
        <bdi className="truncate">{name}</bdi>
      )}
    </span>
  );
}
