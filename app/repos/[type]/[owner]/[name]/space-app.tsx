import { AppWindow, ExternalLink } from "lucide-react";
import type { Repo } from "#core/hub/repos/repo.ts";
import { doSpacesRun, readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import { appPath } from "#core/spaces/app-address.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { isComing, type SpaceStage } from "#core/spaces/stages.ts";
import { ButtonLink, buttonClass } from "../../../../_components/button.tsx";
import { EmptyState } from "../../../../_components/list.tsx";
import { Card } from "../../../../_components/page-layout.tsx";
import { RefreshWhile } from "../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { SpaceStageChip } from "../../../../_components/repos/repo-list.tsx";
import { type RepoPage, repoFileHref } from "../../../../_server/repo-page.ts";

/** Visiting the page does not wake a sleeping app. */
export async function SpaceApp({ page: { repo, mayWrite } }: Readonly<{ page: RepoPage }>) {
  const runtime = await readSpaceRuntime(repo.id);
  if (!runtime) return mayWrite ? <NothingYet repo={repo} /> : null;
  return (
    <div className="grid gap-5">
      <SpaceState repo={repo} runtime={runtime} />
      {runtime.stage === "RUNNING" && (
        <iframe
          src={appPath(repo)}
          title={`The app of ${repo.fullName}`}
          className="h-[36rem] w-full rounded-card border border-line bg-surface"
          loading="lazy"
        />
      )}
    </div>
  );
}

const COMING_SECONDS = 1;

const sentences: Partial<Record<SpaceStage, string>> = {
  BUILDING: "The files are being prepared.",
  APP_STARTING: "The app has started but is not listening yet.",
  SLEEPING: "The app is asleep: nobody has used it for a while, or another Space needed its slot. Opening it wakes it up.",
  PAUSED: "The app is paused until a maintainer of the Space restarts it.",
  STOPPED: "The app has never run.",
};

export function SpaceState({ repo, runtime }: Readonly<{ repo: Repo; runtime: SpaceRuntime }>) {
  const { stage, message, commit, startedAt } = runtime;
  const isService = readSpaceConfig(repo).kind !== "static";
  const mayOpen = stage === "RUNNING" || stage === "SLEEPING" || isComing(stage);
  return (
    <Card className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 py-4 sm:px-5">
      <SpaceStageChip stage={stage} />
      <p className="min-w-0 flex-1 basis-60 break-words text-small">
        {message ?? sentences[stage] ?? (isService ? "The app is running." : "The files are served as they are.")}
        {commit && (
          <span className="text-muted">
            {" "}
            Commit <code>{commit.slice(0, 10)}</code>
            {isService && startedAt && stage === "RUNNING" && (
              <>
                , started <RelativeTime at={startedAt} />
              </>
            )}
            .
          </span>
        )}
      </p>
      {mayOpen && (
        <a
          href={appPath(repo)}
          target="_blank"
          rel="noopener noreferrer"
          className={buttonClass({ variant: "primary", size: "small" })}
        >
          Open
          <ExternalLink className="size-4" aria-hidden="true" />
          <span className="sr-only">, in a new tab</span>
        </a>
      )}
      {isComing(stage) && <RefreshWhile seconds={COMING_SECONDS} />}
    </Card>
  );
}

async function NothingYet({ repo }: Readonly<{ repo: Repo }>) {
  const isNodeRun = doSpacesRun(await readRunnerReport());
  return (
    <Card>
      <EmptyState
        Icon={AppWindow}
        title="No app yet"
        action={repo.headSha === null && <ButtonLink href={repoFileHref(repo, "new", repo.defaultBranch)}>Add a file</ButtonLink>}
      >
        {isNodeRun ? (
          <>
            Push an <code>app.js</code> that listens on port <code>7860</code>, and a README.md whose front matter says{" "}
            <code>sdk: node</code>. Or push an <code>index.html</code>, and say <code>sdk: static</code>.
          </>
        ) : (
          <>
            Push an <code>index.html</code>, and a README.md whose front matter says <code>sdk: static</code>. Programs do not run
            on this server.
          </>
        )}
      </EmptyState>
    </Card>
  );
}
