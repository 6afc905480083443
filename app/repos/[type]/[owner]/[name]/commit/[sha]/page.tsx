import type { Metadata } from "next";
import Link from "next/link";
import { bodyOf, findAuthors } from "#core/hub/git/read/commit.ts";
import { readCommit } from "#core/hub/git/read/list-commits.ts";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { CopyButton } from "../../../../../../_components/copy-button.client.tsx";
import { DiffView } from "../../../../../../_components/diff-view.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { fileOrNotFound } from "../../../../../../_server/or-not-found.ts";
import { decodeSegment, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { CommitAuthor } from "../../_files/commit-rows.tsx";
import { NotOnBranch } from "../../_files/path-trail.tsx";
import { WITHHELD } from "../../_files/withheld.ts";

type Props = Readonly<{ params: RepoParams & Promise<{ sha: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Commit ${decodeSegment((await params).sha).slice(0, 10)}` };
}

export default async function CommitPage({ params }: Props) {
  const { repo, mayReadContent } = await repoPage(params);
  const name = decodeSegment((await params).sha);
  const { commit, diff } = await fileOrNotFound(readCommit(repo, name, { withLines: mayReadContent }));
  const { sha, title, author, committer, parents } = commit;
  const authors = await findAuthors([author.email, committer.email]);
  const body = bodyOf(commit);
  const isCommittedByOther = committer.email !== author.email;
  return (
    <div className="grid grid-cols-1 gap-5">
      <NotOnBranch repo={repo} revision={{ ref: null, sha }} />
      <section aria-labelledby="commit-title" className="rounded-card border border-line bg-surface">
        <div className="flex flex-wrap items-baseline gap-3 px-4 py-4 sm:px-5">
          <div className="min-w-0 flex-1 basis-60">
            <h2 id="commit-title" className="wrap-anywhere text-lead">
              {title || "(no message)"}
            </h2>
            {body && <pre className="mt-2 whitespace-pre-wrap break-words font-sans text-small">{body}</pre>}
          </div>
          <ButtonLink size="small" href={repoFileHref(repo, "tree", sha)}>
            Files at this commit
          </ButtonLink>
        </div>
        <dl className="flex flex-wrap items-center gap-x-6 gap-y-1.5 rounded-b-card border-line border-t bg-sunken px-4 py-2.5 text-small sm:px-5">
          <Fact name="Author">
            <CommitAuthor signature={author} account={authors.get(author.email)} /> <RelativeTime at={author.at} />
          </Fact>
          {isCommittedByOther && (
            <Fact name="Committed by">
              <CommitAuthor signature={committer} account={authors.get(committer.email)} />
            </Fact>
          )}
          <Fact name={parents.length > 1 ? "Parents" : "Parent"}>
            {parents.length === 0 && <span className="text-muted">none: the first commit</span>}
            {parents.map((parent) => (
              <Link key={parent} prefetch={false} href={repoHref(repo, "commit", parent)} className="link font-mono">
                {parent.slice(0, 10)}
              </Link>
            ))}
          </Fact>
          <Fact name="Commit">
            <span className="font-mono">{sha.slice(0, 10)}</span>
            <CopyButton value={sha} label="ID of the commit" />
          </Fact>
        </dl>
      </section>
      {parents.length > 1 && (
        <p className="text-muted text-small">This is a merge. Changes are shown against its first parent.</p>
      )}
      <DiffView
        diff={diff}
        hrefOf={({ path }) => repoFileHref(repo, "blob", sha, path)}
        withheld={mayReadContent ? undefined : WITHHELD}
      />
    </div>
  );
}

function Fact({ name, children }: Readonly<{ name: string; children: React.ReactNode }>) {
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-2">{children}</dd>
    </div>
  );
}
