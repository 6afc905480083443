import { AppWindow, ExternalLink } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { appPath } from "#core/spaces/app-address.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { isComing, type SpaceStage } from "#core/spaces/stages.ts";
import { buttonClass } from "../../../../../_components/button.tsx";
import { Card } from "../../../../../_components/card.tsx";
import { EmptyState } from "../../../../../_components/empty-state.tsx";
import { RefreshWhile } from "../../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { SpaceStageChip } from "../../../../../_components/repos/space-stage.tsx";
import { type RepoPage, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../_server/repo-page.ts";
import { ControlsCard } from "./controls-card.tsx";
import { LogCard } from "./log-card.tsx";
import { ReceiverCard } from "./receiver-card.tsx";
import { VariablesCard } from "./variables-card.tsx";

export const metadata: Metadata = { title: "App" };

// Often enough for a start that takes a second, and for a log that is being read.
const COMING_SECONDS = 1;
const LOG_SECONDS = 5;

/** What a Space runs: the app itself, how it is doing, and for those who look after it its log and its settings. */
export default async function SpaceAppPage({ params }: Readonly<{ params: RepoParams }>) {
  const page = await repoPage(params);
  const { repo, mayReadContent, mayWrite, mayManage } = page;
  if (repo.type !== "space" || repo.platformId !== null || !mayReadContent) notFound();
  const runtime = await readSpaceRuntime(repo.id);
  const isService = readSpaceConfig(repo).kind !== "static";
  if (!runtime) return <NothingYet page={page} />;
  return (
    <div className="grid gap-5">
      <State page={page} runtime={runtime} isService={isService} />
      {isShown(runtime.stage) && (
        <iframe
          src={appPath(repo)}
          title={`The app of ${repo.fullName}`}
          className="h-[36rem] w-full rounded-card border border-line bg-surface"
          loading="lazy"
        />
      )}
      {isService && mayManage && <ControlsCard repo={repo} runtime={runtime} />}
      {isService && mayWrite && <LogCard repo={repo} />}
      {isService && mayManage && <ReceiverCard repo={repo} runtime={runtime} />}
      {isService && mayManage && <VariablesCard repo={repo} />}
      {isComing(runtime.stage) ? (
        <RefreshWhile seconds={COMING_SECONDS} />
      ) : (
        isService && mayWrite && runtime.stage === "RUNNING" && <RefreshWhile seconds={LOG_SECONDS} />
      )}
    </div>
  );
}

/** One that sleeps is shown only when somebody opens it: looking at its page is no use of it. */
const isShown = (stage: SpaceStage): boolean => stage === "RUNNING";

const sentences: Partial<Record<SpaceStage, string>> = {
  BUILDING: "Its files are being laid out.",
  APP_STARTING: "Its command has been started and does not listen yet.",
  SLEEPING: "Nobody has asked for it for a while. Opening it wakes it, and so does any other request.",
  PAUSED: "It has been stopped. No request and no push starts it until somebody restarts it.",
  STOPPED: "It has never run.",
};

function State({ page: { repo }, runtime, isService }: Readonly<{ page: RepoPage; runtime: SpaceRuntime; isService: boolean }>) {
  const { stage, message, commit, startedAt } = runtime;
  const mayOpen = stage === "RUNNING" || stage === "SLEEPING" || isComing(stage);
  return (
    <Card className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 py-4 sm:px-5">
      <SpaceStageChip stage={stage} />
      <p className="min-w-0 flex-1 basis-60 break-words text-small">
        {message ?? sentences[stage] ?? (isService ? "It answers requests." : "Its files are shown as they are.")}
        {commit && (
          <span className="text-muted">
            {" "}
            Commit <code>{commit.slice(0, 7)}</code>
            {isService && startedAt && stage === "RUNNING" && (
              <>
                , since <RelativeTime at={startedAt} />
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
    </Card>
  );
}

function NothingYet({ page: { repo, mayWrite } }: Readonly<{ page: RepoPage }>) {
  return (
    <Card>
      <EmptyState
        Icon={AppWindow}
        title="Nothing runs here yet"
        action={
          mayWrite &&
          repo.headSha === null && (
            <a href={repoFileHref(repo, "new", repo.defaultBranch)} className={buttonClass({ variant: "primary" })}>
              Add a file
            </a>
          )
        }
      >
        {mayWrite ? (
          <>
            Push a README.md whose front matter says <code>sdk: node</code> and an <code>app.js</code> that listens on port{" "}
            <code>7860</code>, or <code>sdk: static</code> and an <code>index.html</code>.
          </>
        ) : (
          <a href={repoHref(repo)} className="link">
            Look at its card
          </a>
        )}
      </EmptyState>
    </Card>
  );
}
