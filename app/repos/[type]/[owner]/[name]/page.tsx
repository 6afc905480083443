import { FileText } from "lucide-react";
import { findOwnAccessRequest } from "#core/hub/gates/own-access-requests.ts";
import { readFrontPage } from "#core/hub/repos/read-front-page.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { Card } from "../../../../_components/card.tsx";
import { EmptyState } from "../../../../_components/empty-state.tsx";
import { FormMessage } from "../../../../_components/form-message.tsx";
import { Markdown } from "../../../../_components/markdown.tsx";
import { noticeOf, type PageQuery } from "../../../../_server/page-query.ts";
import { type RepoPage, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../_server/repo-page.ts";
import { AccessCard } from "./access-card.tsx";
import { EmptyRepo } from "./empty-repo.tsx";
import { RepoFacts } from "./repo-facts.tsx";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

const notices: Record<string, string> = {
  created: "The repository is made.",
  asked: "Your request is sent. You get a letter with the answer.",
  granted: "You have access now.",
  withdrawn: "Your request is taken back.",
};

/** What the repository is about: its README, and what one needs to use it. */
export default async function RepoCardPage({ params, searchParams }: Props) {
  const [page, query] = await Promise.all([repoPage(params), searchParams]);
  const notice = noticeOf(notices, query.notice);
  return (
    <div className="grid grid-cols-1 gap-6 lg:grid-cols-(--columns-card) lg:gap-8">
      <div className="grid min-w-0 grid-cols-1 content-start gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        {!page.mayReadContent && page.repo.platformId === null && <Gate page={page} />}
        <FrontPage page={page} />
      </div>
      <RepoFacts page={page} />
    </div>
  );
}

async function Gate({ page }: Readonly<{ page: RepoPage }>) {
  const { repo, person, session } = page;
  const request = person && (await findOwnAccessRequest(person, repo));
  return <AccessCard repo={repo} email={session?.user.email} username={session?.user.username} request={request} />;
}

async function FrontPage({ page }: Readonly<{ page: RepoPage }>) {
  const { repo, mayWrite } = page;
  if (repo.platformId !== null) return <KeptElsewhere page={page} />;
  if (repo.headSha === null) return <EmptyRepo page={page} />;
  const readme = await readFrontPage(repo);
  if (!readme) {
    return (
      <Card>
        <EmptyState
          Icon={FileText}
          title="No README yet"
          action={
            mayWrite && (
              <ButtonLink href={`${repoFileHref(repo, "new", repo.defaultBranch)}?name=README.md`}>Write one</ButtonLink>
            )
          }
        >
          {mayWrite ? "A file README.md is shown here: say what this is and how to use it." : "Look at the files instead."}
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card className="min-w-0 px-4 py-5 sm:px-6 sm:py-6">
      {readme.isMarkdown ? (
        <Markdown text={readme.text} place={{ base: repoHref(repo), revision: repo.defaultBranch }} />
      ) : (
        <pre className="whitespace-pre-wrap break-words">{readme.text}</pre>
      )}
    </Card>
  );
}

function KeptElsewhere({ page: { repo } }: Readonly<{ page: RepoPage }>) {
  return (
    <Card>
      <EmptyState
        Icon={FileText}
        title="Kept elsewhere"
        action={
          repo.externalUrl && (
            <a href={repo.externalUrl} rel="noopener nofollow" className="link">
              {new URL(repo.externalUrl).host}
            </a>
          )
        }
      >
        The files of this repository are on another platform, which tells of its changes here.
      </EmptyState>
    </Card>
  );
}
