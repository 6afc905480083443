import Link from "next/link";
import type { Repo } from "#core/hub/repos/repo.ts";
import { CopyButton } from "../../../../_components/copy-button.client.tsx";
import { RepoChips } from "../../../../_components/repos/repo-chips.tsx";
import { repoTypeLooks } from "../../../../_components/repos/repo-types.ts";
import { repoListHref } from "../../../../_server/repo-page.ts";

const TAGS_SHOWN = 12;

/** What this repository is, in a line or two. */
export function RepoHeader({ repo }: Readonly<{ repo: Repo }>) {
  const { type, owner, name, fullName, description, tags } = repo;
  const { Icon, word } = repoTypeLooks[type];
  return (
    <div className="pt-5 pb-3">
      <p className="text-muted text-small">
        <Link prefetch={false} href={repoListHref(type)} className="inline-flex items-center gap-1.5 hover:text-ink">
          <Icon className="size-4" aria-hidden="true" />
          {word}
        </Link>
      </p>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <div className="flex min-w-0 items-center gap-1">
          <h1 className="min-w-0 break-words">
            <Link prefetch={false} href={`/${owner.handle}`} className="font-normal text-muted hover:text-ink">
              {owner.handle}
            </Link>
            <span className="font-normal text-muted"> / </span>
            {name}
          </h1>
          <CopyButton value={fullName} label={fullName} />
        </div>
        <RepoChips repo={repo} />
      </div>
      {description && <p className="mt-1 max-w-reading break-words text-muted">{description}</p>}
      {tags.length > 0 && (
        <ul aria-label="Tags" className="mt-2.5 flex flex-wrap gap-1.5">
          {tags.slice(0, TAGS_SHOWN).map((tag) => (
            <li key={tag} className="min-w-0">
              <Link
                prefetch={false}
                href={`${repoListHref(type)}?tag=${encodeURIComponent(tag)}`}
                className="inline-block max-w-full break-words rounded-control border border-line px-2 py-0.5 text-fine text-muted hover:text-ink"
              >
                {tag}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
