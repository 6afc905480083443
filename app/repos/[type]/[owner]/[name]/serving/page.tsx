import { ScrollText } from "lucide-react";
import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import type { Repo } from "#core/hub/repos/repo.ts";
import { receiverAddress } from "#core/spaces/controls/change-runtime.ts";
import { readSpaceLog } from "#core/spaces/logs/read-space-log.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { CopyField } from "../../../../../_components/copyable.tsx";
import { ConfirmDestructive } from "../../../../../_components/details-form.client.tsx";
import { EmptyState } from "../../../../../_components/list.tsx";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
import { RefreshWhile } from "../../../../../_components/refresh-while.client.tsx";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../_server/repo-page.ts";
import { SpaceState } from "../space-app.tsx";
import { controlSpaceAction } from "./actions.ts";
import { ControlsCard, VariablesCard } from "./cards.tsx";

export const metadata: Metadata = { title: "Runtime" };

export default async function SpaceRuntimePage({ params }: Readonly<{ params: RepoParams }>) {
  const { repo, mayReadContent, mayWrite, mayManage } = await repoPage(params);
  if (repo.type !== "space" || repo.platformId !== null || !mayReadContent) notFound();
  const runtime = await readSpaceRuntime(repo.id);
  if (!runtime || !mayWrite) redirect(repoHref(repo));
  const isService = readSpaceConfig(repo).kind !== "static";
  return (
    <div className="grid gap-5">
      <SpaceState repo={repo} runtime={runtime} />
      {isService && mayManage && <ControlsCard repo={repo} runtime={runtime} />}
      {isService && <LogCard repo={repo} />}
      {isService && mayManage && <ReceiverCard repo={repo} runtime={runtime} />}
      {isService && mayManage && <VariablesCard repo={repo} />}
      {isService && runtime.stage === "RUNNING" && <RefreshWhile seconds={LOG_SECONDS} />}
    </div>
  );
}

const LOG_SECONDS = 5;

const SHOWN_MAX_CHARACTERS = 64 * 1024;
// The reversed order makes the box show the last line, also after a refresh.
const BOX = "flex max-h-96 flex-col-reverse overflow-auto rounded-b-card bg-sunken";

async function LogCard({ repo }: Readonly<{ repo: Repo }>) {
  const all = (await readSpaceLog(repo.id)).map(({ text }) => text).join("");
  const text = all.length > SHOWN_MAX_CHARACTERS ? all.slice(all.indexOf("\n", all.length - SHOWN_MAX_CHARACTERS) + 1) : all;
  return (
    <SectionCard title="Log" description="The latest output. Values of secrets are masked." isFlush>
      {text === "" ? (
        <EmptyState Icon={ScrollText} title="No output yet">
          The standard output and standard error of the app appear here.
        </EmptyState>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1)
        <section aria-label="Output" tabIndex={0} className={BOX}>
          <pre className="min-w-0 whitespace-pre-wrap break-words p-4 text-fine leading-5">{text}</pre>
        </section>
      )}
    </SectionCard>
  );
}

function ReceiverCard({ repo, runtime }: Readonly<{ repo: Repo; runtime: SpaceRuntime }>) {
  return (
    <SectionCard
      title="Webhook receiver"
      description="Webhooks can send events to this URL, with any path of the app appended. It accepts only POST requests. A sleeping app wakes up. Verify the webhook's signature, because anyone who knows the URL can post to it."
    >
      <div className="grid gap-4">
        <CopyField label="URL" value={receiverAddress(repo, runtime)} />
        <ConfirmDestructive
          action={controlSpaceAction.bind(null, repoNameOf(repo), "renew-receiver")}
          trigger="Create new URL"
          title={`Create a new URL for ${repo.fullName}?`}
          confirm="Create new URL"
          size="small"
        >
          The current URL stops working. Update the webhooks that use it.
        </ConfirmDestructive>
      </div>
    </SectionCard>
  );
}
