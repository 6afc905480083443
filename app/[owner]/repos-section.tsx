import { repoTypes } from "@keyhook/sdk";
import { FolderGit2 } from "lucide-react";
import type { Actor } from "#core/access/actor.ts";
import type { Owner } from "#core/accounts/handles/find-owner.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Card } from "../_components/card.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { RepoList } from "../_components/repos/repo-list.tsx";
import { repoTypeLooks } from "../_components/repos/repo-types.ts";
import { SectionCard } from "../_components/section-card.tsx";
import { repoListHref } from "../_server/repo-page.ts";

export type ReposSectionProps = Readonly<{
  owner: Owner;
  actor: Actor;
  /** May put repositories here. */
  mayCreate: boolean;
}>;

const SHOWN = 8;

/** What somebody has here, of each type the latest; as far as one may see it. */
export async function ReposSection({ owner, actor, mayCreate }: ReposSectionProps) {
  const lists = await Promise.all(
    repoTypes.map(async (type) => ({ type, ...(await listRepos(actor, { type, owner: owner.handle, limit: SHOWN })) })),
  );
  const found = lists.filter(({ repos }) => repos.length > 0);
  if (found.length === 0) {
    return (
      <Card>
        <EmptyState
          Icon={FolderGit2}
          title="No repositories yet"
          action={mayCreate && <ButtonLink href={`/new?owner=${owner.handle}`}>New repository</ButtonLink>}
        >
          {mayCreate ? "Models, datasets and Spaces appear here." : "Nothing that you may see."}
        </EmptyState>
      </Card>
    );
  }
  return found.map(({ type, repos, nextCursor }) => {
    const { words } = repoTypeLooks[type];
    const all = `${repoListHref(type)}?search=${encodeURIComponent(`${owner.handle}/`)}`;
    return (
      <SectionCard
        key={type}
        title={words}
        isFlush
        action={
          nextCursor && (
            <ButtonLink size="small" href={all}>
              All<span className="sr-only"> {words.toLowerCase()}</span>
            </ButtonLink>
          )
        }
      >
        <RepoList label={words} repos={repos} />
      </SectionCard>
    );
  });
}
