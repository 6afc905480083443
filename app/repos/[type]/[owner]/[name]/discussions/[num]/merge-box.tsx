import { CircleAlert, CircleCheck, GitMerge, GitPullRequestDraft, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { counted } from "#core/counted.ts";
import { pullRequestRef } from "#core/hub/discussions/discussion.ts";
import { type PullRequestState, readPullRequestState } from "#core/hub/discussions/read-pull-request.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { ActionForm, SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { CodeBlock } from "../../../../../../_components/copyable.tsx";
import { ConfirmDestructive } from "../../../../../../_components/details-form.client.tsx";
import { ChoiceRow } from "../../../../../../_components/fields.client.tsx";
import { PressGuard } from "../../../../../../_components/form-buttons.tsx";
import { shellWord } from "../../../../../../_components/shell-word.ts";
import { deleteRefAction, markReadyAction, mergeAction } from "../actions.ts";
import type { DiscussionPage } from "./discussion-page.ts";

type Props = Readonly<{ page: DiscussionPage }>;

/** If git takes longer, the page appears without the state of the commits (S137). */
const STATE_MAX_MS = 2_000;

export async function MergeBox({ page }: Props) {
  const { discussion, repo, mayReadContent } = page;
  const { status } = discussion;
  if (status === "merged" || status === "closed") return <KeptCommits page={page} />;
  const { value: state } = mayReadContent ? await ifInTime(readPullRequestState(repo, discussion), STATE_MAX_MS) : {};
  return (
    <section aria-labelledby="merge" className="grid gap-4 rounded-card border border-line bg-surface px-4 py-4 sm:px-5">
      {state ? (
        <>
          <MergeStatus page={page} state={state} />
          <CheckOut page={page} state={state} />
        </>
      ) : (
        <StatusNote Icon={CircleAlert} title="Merge status unknown">
          {mayReadContent
            ? "Comparing the commits took too long. Try again later."
            : "Only people with access to the files can see whether it can be merged."}
          <MarkReady page={page} />
        </StatusNote>
      )}
    </section>
  );
}

function MergeStatus({ page, state }: Props & Readonly<{ state: PullRequestState }>) {
  const { discussion, repo, at, mayMerge, mayUpdate } = page;
  const base = <code>{branchOf(discussion.baseRef)}</code>;
  // Unlike a draft, an open pull request has had commits of its own.
  if (state.merge === "nothing" && discussion.status === "open") {
    return (
      <StatusNote Icon={GitMerge} title="Already merged">
        All commits of this pull request are already in {base}, so there is nothing to merge.
        {mayUpdate && " Close it, or push more commits."}
      </StatusNote>
    );
  }
  if (state.merge === "gone" && state.headSha !== null) {
    return (
      <StatusNote Icon={CircleAlert} tone="text-bad" title="No base branch">
        The base branch {base} no longer exists. Open a new pull request.
      </StatusNote>
    );
  }
  if (state.merge === "gone" || state.merge === "nothing") {
    return (
      <StatusNote Icon={GitPullRequestDraft} title="No commits yet">
        Its author, and people who can write to the repository, can push commits to its ref, as shown below.
      </StatusNote>
    );
  }
  const behind = state.behind > 0 ? ` and is ${counted(state.behind, "commit")} behind` : "";
  const divergence = `${counted(state.ahead, "commit")} of its own${behind}.`;
  if (state.merge === "conflicts" || state.merge === "unrelated") {
    return (
      <StatusNote Icon={CircleAlert} tone="text-bad" title={state.merge === "unrelated" ? "No common history" : "Conflicts"}>
        {state.merge === "unrelated" ? (
          <>
            This pull request has no history in common with {base}. Open a new one from a branch that starts at {base}.
          </>
        ) : (
          <>
            This pull request has {divergence} These files were changed on both sides:
            <ul className="mt-2 list-disc pl-5">
              {state.filesWithConflicts.map((file) => (
                <li key={file}>
                  <code className="break-all">{file}</code>
                </li>
              ))}
            </ul>
            <p className="mt-2">Merge {base} into the pull request and resolve the conflicts, as shown below.</p>
          </>
        )}
        <MarkReady page={page} />
      </StatusNote>
    );
  }
  if (discussion.status === "draft") {
    return (
      <StatusNote Icon={GitPullRequestDraft} title="Draft">
        This pull request has {divergence} It can be merged once it is open.
        <MarkReady page={page} />
      </StatusNote>
    );
  }
  return (
    <StatusNote Icon={CircleCheck} tone="text-good" title="No conflicts">
      This pull request has {divergence}{" "}
      {!mayMerge &&
        (repo.isReadOnly
          ? "The repository is read-only, so nobody can merge it."
          : "People who can write to the repository can merge it.")}
      {mayMerge && (
        <ActionForm action={mergeAction.bind(null, at)} className="mt-2 grid gap-3 text-ink">
          <input type="hidden" name="headSha" value={state.headSha ?? ""} />
          {state.behind === 0 && state.baseSha && (
            <ChoiceRow
              type="checkbox"
              name="fastForward"
              label="Without a merge commit"
              hint="Moves the branch forward to these commits."
            />
          )}
          <PressGuard>
            <SubmitButton>
              <GitMerge className="size-4" aria-hidden="true" />
              Merge into {branchOf(discussion.baseRef)}
            </SubmitButton>
          </PressGuard>
        </ActionForm>
      )}
    </StatusNote>
  );
}

function MarkReady({ page: { at, discussion, mayUpdate } }: Props) {
  if (discussion.status !== "draft" || !mayUpdate) return null;
  return (
    <ActionForm action={markReadyAction.bind(null, at)} className="mt-3 grid gap-3">
      <SubmitButton>Open for review</SubmitButton>
    </ActionForm>
  );
}

type StatusNoteProps = Readonly<{ Icon: LucideIcon; tone?: string; title: string; children: ReactNode }>;

function StatusNote({ Icon, tone = "text-muted", title, children }: StatusNoteProps) {
  return (
    <div className="flex items-start gap-3">
      <Icon className={`mt-0.5 size-5 shrink-0 ${tone}`} aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <h3 id="merge" className="font-medium">
          {title}
        </h3>
        <div className="mt-1 break-words text-muted text-small">{children}</div>
      </div>
    </div>
  );
}

function CheckOut({ page: { repo, discussion }, state }: Props & Readonly<{ state: PullRequestState }>) {
  const { num, baseRef } = discussion;
  const local = `pr/${num}`;
  const base = branchOf(baseRef);
  const fetch = state.headSha
    ? [`git fetch origin ${pullRequestRef(num)}:${local}`, `git checkout ${local}`]
    : [`git checkout -b ${local}`];
  const lines = [
    `git clone ${repoWebUrl(repo)}`,
    `cd ${repo.name}`,
    ...fetch,
    ...(state.merge === "conflicts"
      ? ["", "# merge its base, and resolve the conflicts", `git merge origin/${shellWord(base)}`]
      : []),
    "",
    "# commit, then",
    `git push origin ${local}:${pullRequestRef(num)}`,
  ];
  return (
    <details open={state.merge !== "clean"} className="group pl-8">
      <summary className="link w-fit text-small">Commands to check out this pull request</summary>
      <div className="mt-3">
        <CodeBlock code={lines.join("\n")} label="git commands for this pull request" />
      </div>
    </details>
  );
}

async function KeptCommits({ page }: Props) {
  const { at, discussion, mayUpdate, repo } = page;
  if (!mayUpdate || repo.isReadOnly) return null;
  const { value: state } = await ifInTime(readPullRequestState(repo, discussion), STATE_MAX_MS);
  if (!state?.headSha) return null;
  const ref = pullRequestRef(discussion.num);
  return (
    <section aria-label="Commits" className="grid gap-3 rounded-card border border-line bg-surface px-4 py-4 text-small sm:px-5">
      <p className="text-muted">
        The pull request's commits are still at <code>{ref}</code>.
      </p>
      <ConfirmDestructive
        action={deleteRefAction.bind(null, at)}
        trigger="Delete its ref"
        title={`Delete ${ref}?`}
        confirm={`Delete ${ref}`}
        size="small"
      >
        The conversation is kept.{" "}
        {discussion.status === "merged"
          ? "The commits are in the branch that they were merged into."
          : "Commits that are not on a branch or tag are lost, and the pull request cannot be reopened until new ones are pushed."}
      </ConfirmDestructive>
    </section>
  );
}

const branchOf = (ref: string | null): string => (ref ?? "").replace(/^refs\/heads\//, "");
