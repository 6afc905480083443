import { CircleAlert, CircleCheck, GitMerge, GitPullRequestDraft, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { pullRequestRef } from "#core/hub/discussions/discussion.ts";
import { type PullRequestState, readPullRequestState } from "#core/hub/discussions/pull-request-state.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { ActionForm } from "../../../../../../_components/action-form.client.tsx";
import { ChoiceRow } from "../../../../../../_components/choice-row.client.tsx";
import { CodeBlock } from "../../../../../../_components/code-block.tsx";
import { ConfirmDestructive } from "../../../../../../_components/confirm-destructive.client.tsx";
import { SubmitButton } from "../../../../../../_components/submit-button.client.tsx";
import { deleteRefAction, markReadyAction, mergeAction } from "../actions.ts";
import type { DiscussionPage } from "./discussion-page.ts";

type Props = Readonly<{ page: DiscussionPage }>;

/** What was said is what the page is for: it is shown without how the commits stand when git is late (S137). */
const STATE_MAX_MS = 2_000;

/** Whether and how a pull request can be merged, and who may. */
export async function MergeBox({ page }: Props) {
  const { discussion, repo } = page;
  const { status } = discussion;
  if (status === "merged" || status === "closed") return <Afterwards page={page} />;
  const { value: state } = await ifInTime(readPullRequestState(repo, discussion), STATE_MAX_MS);
  return (
    <section aria-labelledby="merge" className="grid gap-4 rounded-card border border-line bg-surface px-4 py-4 sm:px-5">
      {state ? (
        <>
          <Finding page={page} state={state} />
          <CheckOut page={page} state={state} />
        </>
      ) : (
        <Said Icon={CircleAlert} title="Not known yet whether it can be merged">
          Comparing its commits takes too long right now. Try again later.
          <MarkReady page={page} />
        </Said>
      )}
    </section>
  );
}

function Finding({ page, state }: Props & Readonly<{ state: PullRequestState }>) {
  const { discussion, at, mayMerge } = page;
  const base = <code>{branchOf(discussion.baseRef)}</code>;
  // A draft begins at its base, with no commit of its own. One that is open has had some.
  if (state.merge === "nothing" && discussion.status === "open") {
    return (
      <Said Icon={GitMerge} title="Merged already">
        The branch {base} has all of its commits, so there is nothing left to merge. Close it, or push more.
      </Said>
    );
  }
  if (state.merge === "gone" && state.headSha !== null) {
    return (
      <Said Icon={CircleAlert} tone="text-bad" title="It cannot be merged">
        The branch {base} that it is for is gone.
      </Said>
    );
  }
  if (state.merge === "gone" || state.merge === "nothing") {
    return (
      <Said Icon={GitPullRequestDraft} title="No commits yet">
        Push them to its own ref, as below: they are shown here as soon as they arrive.
      </Said>
    );
  }
  const apart = `${count(state.ahead, "commit")} of its own${state.behind > 0 ? `, ${count(state.behind, "commit")} behind` : ""}.`;
  if (state.merge === "conflicts" || state.merge === "unrelated") {
    return (
      <Said Icon={CircleAlert} tone="text-bad" title="It cannot be merged as it is">
        {state.merge === "unrelated" ? (
          <>It has no history in common with {base}.</>
        ) : (
          <>
            It has {apart} These files were changed on both sides:
            <ul className="mt-2 list-disc pl-5">
              {state.filesWithConflicts.map((file) => (
                <li key={file}>
                  <code className="break-all">{file}</code>
                </li>
              ))}
            </ul>
          </>
        )}
        <MarkReady page={page} />
      </Said>
    );
  }
  if (discussion.status === "draft") {
    return (
      <Said Icon={GitPullRequestDraft} title="This is a draft">
        It has {apart} It can be merged once it is open.
        <MarkReady page={page} />
      </Said>
    );
  }
  return (
    <Said Icon={CircleCheck} tone="text-good" title="It can be merged">
      It has {apart} {!mayMerge && "Those who may change the repository can merge it."}
      {mayMerge && (
        <ActionForm action={mergeAction.bind(null, at)} className="mt-2 grid gap-3">
          <input type="hidden" name="headSha" value={state.headSha ?? ""} />
          {state.behind === 0 && state.baseSha && (
            <ChoiceRow
              type="checkbox"
              name="fastForward"
              label="Without a merge commit"
              hint="Moves the branch forward to these commits."
            />
          )}
          <div>
            <SubmitButton>
              <GitMerge className="size-4" aria-hidden="true" />
              Merge into {branchOf(discussion.baseRef)}
            </SubmitButton>
          </div>
        </ActionForm>
      )}
    </Said>
  );
}

/** Takes it out of its draft. */
function MarkReady({ page: { at, discussion, mayUpdate } }: Props) {
  if (discussion.status !== "draft" || !mayUpdate) return null;
  return (
    <ActionForm action={markReadyAction.bind(null, at)} className="mt-3 grid gap-3">
      <div>
        <SubmitButton>Open for review</SubmitButton>
      </div>
    </ActionForm>
  );
}

type SaidProps = Readonly<{ Icon: LucideIcon; tone?: string; title: string; children: ReactNode }>;

function Said({ Icon, tone = "text-muted", title, children }: SaidProps) {
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

/** The same commits at home, to try them or to add to them. */
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
    ...(state.merge === "conflicts" ? ["", "# bring its base in, and settle the conflicts", `git merge origin/${base}`] : []),
    "",
    "# commit, then",
    `git push origin ${local}:${pullRequestRef(num)}`,
  ];
  return (
    <details open={state.merge !== "clean"} className="group">
      <summary className="link w-fit text-small">Check it out, and push to it</summary>
      <div className="mt-3">
        <CodeBlock code={lines.join("\n")} label="git commands for this pull request" />
      </div>
    </details>
  );
}

async function Afterwards({ page }: Props) {
  const { at, discussion, mayUpdate, repo } = page;
  const { value: state } = await ifInTime(readPullRequestState(repo, discussion), STATE_MAX_MS);
  if (!state?.headSha || !mayUpdate || repo.isReadOnly) return null;
  const ref = pullRequestRef(discussion.num);
  return (
    <section aria-label="Commits" className="grid gap-3 rounded-card border border-line bg-surface px-4 py-4 text-small sm:px-5">
      <p className="text-muted">
        Its commits are still at <code>{ref}</code>.
      </p>
      <ConfirmDestructive
        action={deleteRefAction.bind(null, at)}
        trigger="Delete its ref"
        title={`Delete ${ref}?`}
        confirm={`Delete ${ref}`}
        size="small"
      >
        What was said stays.{" "}
        {discussion.status === "merged"
          ? "Its commits are in the branch that they were merged into."
          : "Its commits are gone for good, and it cannot be opened again before others are pushed."}
      </ConfirmDestructive>
    </section>
  );
}

const branchOf = (ref: string | null): string => (ref ?? "").replace(/^refs\/heads\//, "");
const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
