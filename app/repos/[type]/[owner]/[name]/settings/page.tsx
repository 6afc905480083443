import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { FormMessage } from "../../../../../_components/form-message.tsx";
import { ownerChoices } from "../../../../../_server/owner-choices.ts";
import { type PageQuery, textOf } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoPage } from "../../../../../_server/repo-page.ts";
import { DeleteCard, MoveCard } from "./danger-cards.tsx";
import { GateCard } from "./gate-card.tsx";
import { PublishersCard } from "./publishers-card.tsx";
import { AboutCard, BranchCard, DiscussionsCard, ProtectionCard, VisibilityCard } from "./settings-cards.tsx";

export const metadata: Metadata = { title: "Settings" };

const BRANCHES_SHOWN = 200;
/** All else can be set without them. */
const REFS_MAX_MS = 5_000;

/** Everything that can be set of a repository, a card for each subject. */
export default async function RepoSettingsPage({
  params,
  searchParams,
}: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const { repo, mayManage, session, person } = await repoPage(params);
  if (!mayManage || !session || !person) notFound();
  if (repo.platformId !== null) {
    return <FormMessage>This repository is kept elsewhere. Change it there, and what is shown here follows.</FormMessage>;
  }
  const [{ notice }, branches, owners] = await Promise.all([
    searchParams,
    branchesOf(repo),
    ownerChoices(person, session.user.username),
  ]);
  return (
    <div className="grid max-w-3xl gap-5">
      {textOf(notice) === "moved" && (
        <FormMessage tone="good">
          It is {repo.fullName} now. Its earlier address leads here, until somebody takes that name anew.
        </FormMessage>
      )}
      <AboutCard repo={repo} />
      <VisibilityCard repo={repo} />
      <GateCard repo={repo} />
      <BranchCard repo={repo} branches={branches} />
      <ProtectionCard repo={repo} />
      <DiscussionsCard repo={repo} />
      <PublishersCard repo={repo} />
      <MoveCard repo={repo} owners={owners} />
      <DeleteCard repo={repo} />
    </div>
  );
}

/** The names to choose from; none where there are too many for a list, or none yet; undefined when git takes too long to list them. */
async function branchesOf(repo: Repo): Promise<string[] | undefined> {
  const branches = (await ifInTime(listRefs(repo), REFS_MAX_MS)).value?.branches;
  return branches && branches.length > BRANCHES_SHOWN ? [] : branches?.map(({ name }) => name);
}
