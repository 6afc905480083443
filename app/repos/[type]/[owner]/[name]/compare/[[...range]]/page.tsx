import { GitCompareArrows } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isServiceError } from "#core/errors.ts";
import { findAuthors } from "#core/hub/git/read/commit.ts";
import { type Comparison, compareRevisions, parseRange, type Range } from "#core/hub/git/read/compare-revisions.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { buttonClass } from "../../../../../../_components/button.tsx";
import { DiffView } from "../../../../../../_components/diff-view.tsx";
import { Field } from "../../../../../../_components/fields.client.tsx";
import { List } from "../../../../../../_components/list.tsx";
import { Card, FormMessage } from "../../../../../../_components/page-layout.tsx";
import { fileOrNotFound } from "../../../../../../_server/or-not-found.ts";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { setPageStatus } from "../../../../../../_server/page-status.ts";
import { decodeSegments, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { CommitRow } from "../../_files/commit-rows.tsx";
import { WITHHELD } from "../../_files/withheld.ts";

type Props = Readonly<{ params: RepoParams & Promise<{ range?: string[] }>; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "Comparison" };

export default async function ComparePage({ params, searchParams }: Props) {
  const [{ repo, mayReadContent }, { range }, query] = await Promise.all([repoPage(params), params, searchParams]);
  const text = decodeSegments(range).join("/");
  const [asked, head] = [textOf(query.base), textOf(query.head)];
  // The form's values become part of the URL, for bookmarks.
  if (asked && head) redirect(repoHref(repo, "compare", `${asked}...${head}`));
  const parsed = text === "" ? undefined : await fileOrNotFound(readRange(text));
  const found = parsed && (await compareOrNothing(repo, parsed, mayReadContent));
  const authors = await findAuthors((found?.commits ?? []).map(({ author }) => author.email));
  const now = new Date();
  return (
    <div className="grid grid-cols-1 gap-5">
      <h2>Comparison</h2>
      <form action={repoHref(repo, "compare")} className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-40">
          <Field name="base" label="From" defaultValue={parsed?.base ?? repo.defaultBranch} isMono />
        </div>
        <div className="min-w-0 flex-1 basis-40">
          <Field name="head" label="To" defaultValue={parsed?.head} isMono />
        </div>
        <button type="submit" className={buttonClass({})}>
          <GitCompareArrows className="size-4" aria-hidden="true" />
          Compare
        </button>
      </form>
      {parsed && !found && (
        <FormMessage tone="bad">
          “From” or “To” is not a branch, tag or commit of this repository. Correct it and compare again.
        </FormMessage>
      )}
      {!parsed && <p className="text-muted">Changes between two branches, tags or commits.</p>}
      {found && found.commits.length > 0 && (
        <section aria-labelledby="commits" className="grid gap-2">
          <h3 id="commits" className="text-muted text-small">
            {found.commits.length.toLocaleString("en")} {found.commits.length === 1 ? "commit" : "commits"}
            {found.isCommitsCut && " and more"}
          </h3>
          <Card>
            <List>
              {found.commits.map((commit) => (
                <CommitRow key={commit.sha} repo={repo} commit={commit} account={authors.get(commit.author.email)} now={now} />
              ))}
            </List>
          </Card>
        </section>
      )}
      {found && (
        <DiffView
          diff={found.diff}
          hrefOf={({ path }) => (found.head.sha ? repoFileHref(repo, "blob", found.head.sha, path) : undefined)}
          withheld={mayReadContent ? undefined : WITHHELD}
        />
      )}
    </div>
  );
}

const readRange = async (text: string): Promise<Range> => parseRange(text);

async function compareOrNothing(repo: Repo, range: Range, withLines: boolean): Promise<Comparison | undefined> {
  try {
    return await compareRevisions(repo, range, { withLines });
  } catch (error) {
    if (!isServiceError(error) || error.code !== "not_found") throw error;
    setPageStatus(404);
    return undefined;
  }
}
