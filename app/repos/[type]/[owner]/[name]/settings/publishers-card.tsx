import type { Repo } from "#core/hub/repos/repo.ts";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { repoPublishersPath } from "../../../../../_server/publishers/publisher-paths.ts";
import { repoNameOf } from "../../../../../_server/repo-page.ts";

/** The way to whom the repository trusts. */
export function PublishersCard({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <SectionCard
      title="Trusted publishers"
      description="Lets jobs of a pipeline (GitHub, GitLab, CircleCI, Bitbucket or another) push to this repository without a stored token."
    >
      <ButtonLink href={repoPublishersPath(repoNameOf(repo))}>Manage publishers</ButtonLink>
    </SectionCard>
  );
}
