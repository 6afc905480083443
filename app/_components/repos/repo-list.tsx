import Link from "next/link";
import { type Repo, repoWebUrl } from "#core/hub/repos/repo.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { List, ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { RepoChips } from "./repo-chips.tsx";
import { repoTypeLooks } from "./repo-types.ts";

export type RepoListProps = Readonly<{
  label: string;
  repos: readonly Repo[];
  /** On a page where all are of one type, its icon says nothing. */
  isTypeShown?: boolean;
}>;

/** Repositories, one below the other. */
export function RepoList({ label, repos, isTypeShown }: RepoListProps) {
  return (
    <List label={label}>
      {repos.map((repo) => (
        <RepoRow key={repo.id} repo={repo} isTypeShown={isTypeShown} />
      ))}
    </List>
  );
}

function RepoRow({ repo, isTypeShown }: Readonly<{ repo: Repo; isTypeShown: boolean | undefined }>) {
  const { Icon, word } = repoTypeLooks[repo.type];
  return (
    <ListRow
      leading={isTypeShown && <Icon className="size-4 shrink-0 text-muted" role="img" aria-label={word} />}
      title={
        <>
          <RepoLink repo={repo} />
          <RepoChips repo={repo} />
        </>
      }
      meta={
        <>
          {repo.description && <span className="line-clamp-2">{repo.description}</span>}
          <span>
            Changed <RelativeTime at={repo.updatedAt} />
            {repo.platformId && ` · kept at ${new URL(repoWebUrl(repo)).host}`}
          </span>
        </>
      }
    />
  );
}

/** One that lies elsewhere is found there too: its page here would have nothing to show. */
function RepoLink({ repo }: Readonly<{ repo: Repo }>) {
  const className = "link min-w-0 break-words";
  if (repo.platformId && repo.externalUrl) {
    return (
      <a href={repo.externalUrl} rel="noopener nofollow" className={className}>
        {repo.fullName}
      </a>
    );
  }
  return (
    <Link prefetch={false} href={repoHref(repo)} className={className}>
      {repo.fullName}
    </Link>
  );
}
