import Link from "next/link";
import { type Repo, repoWebUrl } from "#core/hub/repos/repo.ts";
import type { SpaceStage } from "#core/spaces/stages.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { Chip, type ChipProps } from "../chip.tsx";
import { List, ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { repoTypeLooks } from "./repo-types.ts";

type RepoListProps = Readonly<{
  label: string;
  repos: readonly Repo[];
  isTypeShown?: boolean;
}>;

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
            {repo.platformId && ` · hosted at ${new URL(repoWebUrl(repo)).host}`}
          </span>
        </>
      }
    />
  );
}

/** The page of a repository on another platform would have nothing to show. */
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

/** The SDKs that run here. A README may name others. */
const sdkNames: Readonly<Record<string, string>> = { static: "Static page", node: "Node" };

export function RepoChips({ repo }: Readonly<{ repo: Pick<Repo, "isPrivate" | "gated" | "isReadOnly" | "sdk" | "type"> }>) {
  return (
    <>
      {repo.isPrivate && <Chip>Private</Chip>}
      {repo.gated !== "none" && <Chip tone="warn">Gated</Chip>}
      {repo.isReadOnly && <Chip>Read-only</Chip>}
      {repo.type === "space" && repo.sdk && <Chip>{sdkNames[repo.sdk] ?? repo.sdk}</Chip>}
    </>
  );
}

const stageLooks: Record<SpaceStage, { word: string; tone: ChipProps["tone"] }> = {
  NO_APP_FILE: { word: "No app file", tone: "warn" },
  CONFIG_ERROR: { word: "Cannot be run", tone: "bad" },
  BUILDING: { word: "Building", tone: "neutral" },
  BUILD_ERROR: { word: "Build failed", tone: "bad" },
  APP_STARTING: { word: "Starting", tone: "neutral" },
  RUNNING: { word: "Running", tone: "good" },
  SLEEPING: { word: "Asleep", tone: "neutral" },
  PAUSED: { word: "Paused", tone: "warn" },
  RUNTIME_ERROR: { word: "Failed", tone: "bad" },
  STOPPED: { word: "Stopped", tone: "neutral" },
};

export function SpaceStageChip({ stage }: Readonly<{ stage: SpaceStage }>) {
  const { word, tone } = stageLooks[stage];
  return <Chip tone={tone}>{word}</Chip>;
}
