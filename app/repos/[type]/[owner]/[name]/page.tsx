import { FileText, FolderOpen } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import { findOwnAccessRequest } from "#core/hub/gates/access-requests.ts";
import { readFrontPage } from "#core/hub/git/read/read-folder.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { CodeBlock } from "../../../../_components/copyable.tsx";
import { EmptyState } from "../../../../_components/list.tsx";
import { Markdown } from "../../../../_components/markdown.tsx";
import { Card, FormMessage, SectionCard } from "../../../../_components/page-layout.tsx";
import { Tabs } from "../../../../_components/tabs.tsx";
import { noticeOf, type PageQuery } from "../../../../_server/page-query.ts";
import { type RepoPage, type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../_server/repo-page.ts";
import { AccessCard, RepoFacts } from "./repo-facts.tsx";
import { SpaceApp } from "./space-app.tsx";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

const notices: Record<string, string> = {
  created: "Repository created.",
  asked: "Request sent. This page shows the decision.",
  granted: "You now have access.",
  withdrawn: "Request withdrawn.",
};

/** The overview of a repository: the app of a Space, its README, and how to use it. */
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
        <pre className="whitespace-pre-wrap break-words">{readme.text}</pre>
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
        The files of this repository are on another platform, which reports its changes here.
      </EmptyState>
    </Card>
  );
}

/** A repository without a commit: the next commands, for people who may push. */
function EmptyRepo({ page: { repo, mayWrite, session } }: Readonly<{ page: RepoPage }>) {
  if (!mayWrite) {
    return (
      <Card>
        <EmptyState Icon={FolderOpen} title="No files yet">
          This repository is empty.
        </EmptyState>
      </Card>
    );
  }
  const address = env().ORIGIN + repoHref(repo);
  const { name, defaultBranch: branch } = repo;
  return (
    <SectionCard
      title="Add the first files"
      description="With git on your computer, or here in the browser."
      action={
        <ButtonLink size="small" href={`${repoFileHref(repo, "new", branch)}?name=README.md`}>
          Write a README
        </ButtonLink>
      }
    >
      <div className="grid gap-5">
        <Tabs
          label="Commands for"
          tabs={[
            {
              label: "A new folder",
              content: (
                <CodeBlock
                  label="commands for a new folder"
                  code={`git clone ${address}\ncd ${name}\necho "# ${name}" > README.md\ngit add .\ngit commit -m "Add a README"\ngit push origin HEAD:${branch}`}
                />
              ),
            },
            {
              label: "A folder with commits",
              content: (
                <CodeBlock
                  label="commands for a folder that has commits"
                  code={`git remote add origin ${address}\ngit push -u origin HEAD:${branch}`}
                />
              ),
            },
          ]}
        />
        <p className="text-muted text-small">
          When git asks for your credentials, use the username <code>{session?.user.username}</code> and, as the password, an{" "}
          <Link prefetch={false} href="/settings/tokens/new?for=git" className="link">
            access token
          </Link>{" "}
          with the scope <code>write-repos</code>. Your account's password does not work.
        </p>
      </div>
    </SectionCard>
  );
}
