import { FileText } from "lucide-react";
import { findOwnAccessRequest } from "#core/hub/gates/access-requests.ts";
import { readFrontPage } from "#core/hub/git/read/read-folder.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { EmptyState } from "../../../../_components/list.tsx";
import { Markdown, PlainReadme } from "../../../../_components/markdown.tsx";
import { Card, FormMessage } from "../../../../_components/page-layout.tsx";
import { noticeOf, type PageQuery } from "../../../../_server/page-query.ts";
import { type RepoPage, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../_server/repo-page.ts";
import { EmptyRepository } from "./_files/empty-repository.tsx";
import { AccessCard, RepoFacts } from "./repo-facts.tsx";
import { SpaceApp } from "./space-app.tsx";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

const notices: Record<string, string> = {
  created: "Repository created.",
  asked: "Request sent. This page will show the decision.",
  granted: "You now have access.",
  withdrawn: "Request withdrawn.",
};

export default async function RepoCardPage({ params, searchParams }: Props) {
  const [page, query] = await Promise.all([repoPage(params), searchParams]);
  const notice = noticeOf(notices, query.notice);
  const isApp = page.repo.type === "space" && page.repo.platformId === null && page.mayReadContent;
  return (
    <div className="grid grid-cols-1 gap-6 lg:grid-cols-(--columns-card) lg:gap-8">
      {(notice || isApp) && (
        <div className="grid min-w-0 grid-cols-1 gap-5 lg:col-span-2">
          {notice && <FormMessage tone="good">{notice}</FormMessage>}
          {isApp && <SpaceApp page={page} />}
        </div>
      )}
      <div className="grid min-w-0 grid-cols-1 content-start gap-5">
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
  if (repo.platformId !== null) return <HostedElsewhere page={page} />;
  if (repo.headSha === null) return <EmptyRepository page={page} />;
  const readme = await readFrontPage(repo);
  if (!readme) {
    return (
      <Card>
        <EmptyState
          Icon={FileText}
          title="No README yet"
          action={
            mayWrite && (
              <ButtonLink href={`${repoFileHref(repo, "new", repo.defaultBranch)}?name=README.md`}>Write a README</ButtonLink>
            )
          }
        >
          {mayWrite ? "The file README.md is shown here. Describe the repository and how to use it." : "See the files instead."}
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card className="min-w-0 px-4 py-5 sm:px-6 sm:py-6">
      {readme.isMarkdown ? (
        <Markdown text={readme.text} context={{ base: repoHref(repo), revision: repo.defaultBranch }} />
      ) : (
        <PlainReadme text={readme.text} />
      )}
    </Card>
  );
}

function HostedElsewhere({ page: { repo } }: Readonly<{ page: RepoPage }>) {
  return (
    <Card>
      <EmptyState
        Icon={FileText}
        title="Hosted elsewhere"
        action={
          repo.externalUrl && (
            <a href={repo.externalUrl} rel="noopener nofollow" className="link">
              {new URL(repo.externalUrl).host}
            </a>
          )
        }
      >
        The files of this repository are on another platform, which reports changes to the repository here.
      </EmptyState>
    </Card>
  );
}
