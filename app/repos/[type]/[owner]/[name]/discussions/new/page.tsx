import type { Metadata } from "next";
import { TITLE_MAX_CHARACTERS } from "#core/hub/discussions/discussion.ts";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { ActionForm, SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { Field, Select } from "../../../../../../_components/fields.client.tsx";
import { MarkdownField } from "../../../../../../_components/markdown-field.client.tsx";
import { FormMessage, SectionCard } from "../../../../../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { requireSession } from "../../../../../../_server/session.ts";
import { openDiscussionAction, openPullRequestAction } from "../actions.ts";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

/** If git takes longer, the form has no list of branches, but can still open a draft. */
const REFS_MAX_MS = 5_000;

const isPullRequest = (query: Awaited<PageQuery>) => textOf(query.kind) === "pull-request";

export async function generateMetadata({ searchParams }: Props): Promise<Metadata> {
  return { title: isPullRequest(await searchParams) ? "New pull request" : "New discussion" };
}

export default async function NewDiscussionPage({ params, searchParams }: Props) {
  const [{ repo }, query] = await Promise.all([repoPage(params), searchParams]);
  const isProposal = isPullRequest(query);
  const base = repoHref(repo, "discussions");
  await requireSession(`${base}/new${isProposal ? "?kind=pull-request" : ""}`);
  if (!repo.hasDiscussions || repo.platformId !== null) {
    return <FormMessage>Discussions and pull requests are disabled for this repository.</FormMessage>;
  }
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  const action = (isProposal ? openPullRequestAction : openDiscussionAction).bind(null, name);
  const cancel = <ButtonLink href={base}>Cancel</ButtonLink>;
  return (
    <SectionCard
      title={isProposal ? "New pull request" : "New discussion"}
      description={isProposal ? "Propose commits to a branch, so that others can review them before they are merged." : undefined}
    >
      <ActionForm action={action} className="grid max-w-reading gap-5">
        <Field name="title" label="Title" maxLength={TITLE_MAX_CHARACTERS} autoComplete="off" />
        {isProposal && <Branches repo={repo} head={textOf(query.head)} />}
        <MarkdownField name="description" label="Description" rows={8} isOptional after={cancel}>
          <SubmitButton name="intent" value="open">
            {isProposal ? "Open pull request" : "Open discussion"}
          </SubmitButton>
        </MarkdownField>
      </ActionForm>
    </SectionCard>
  );
}

async function Branches({ repo, head }: Readonly<{ repo: Repo; head: string }>) {
  const { value: refs } = await ifInTime(listRefs(repo), REFS_MAX_MS);
  const listed = refs?.branches.map(({ name }) => name) ?? [];
  const all = listed.length > 0 ? [...new Set([repo.defaultBranch, ...(head ? [head] : []), ...listed])] : [];
  const names = shownOf(all, head);
  const options = names.map((name) => ({ value: name, label: name }));
  const others = options.filter(({ value }) => value !== repo.defaultBranch);
  return (
    <div className="grid items-start gap-5 sm:grid-cols-2">
      <Select
        name="head"
        label="Commits from"
        defaultValue={names.includes(head) ? head : ""}
        options={[{ value: "", label: "None yet; I will push them" }, ...others]}
        hint={`${refs ? "" : "Listing the branches took too long. Reload the page to choose one. "}${names.length < all.length ? `Only ${names.length.toLocaleString("en")} branches are listed. For another one, open the link that git printed when the branch was pushed. ` : ""}Without a branch, the pull request is a draft with its own ref to push to.`}
      />
      <Select
        name="base"
        label="Into"
        defaultValue={repo.defaultBranch}
        options={options.length > 0 ? options : [{ value: repo.defaultBranch, label: repo.defaultBranch }]}
      />
    </div>
  );
}

/** Each name is in the page several times (S137). */
const SHOWN_MAX = 1_000;
const SHOWN_MAX_CHARACTERS = 64 * 1024;

function shownOf(names: readonly string[], head: string): string[] {
  let left = SHOWN_MAX_CHARACTERS;
  return names.filter((name, at) => {
    left -= name.length;
    return (at < SHOWN_MAX && left >= 0) || name === head;
  });
}
