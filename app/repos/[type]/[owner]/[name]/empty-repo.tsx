import { FolderOpen } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { Card } from "../../../../_components/card.tsx";
import { CodeBlock } from "../../../../_components/code-block.tsx";
import { EmptyState } from "../../../../_components/empty-state.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { Tabs } from "../../../../_components/tabs.tsx";
import { type RepoPage, repoFileHref, repoHref } from "../../../../_server/repo-page.ts";

/** A repository without a commit: what to type next, for those who may. */
export function EmptyRepo({ page: { repo, mayWrite, session } }: Readonly<{ page: RepoPage }>) {
  if (!mayWrite) {
    return (
      <Card>
        <EmptyState Icon={FolderOpen} title="Nothing here yet">
          This repository has no files. Come back later.
        </EmptyState>
      </Card>
    );
  }
  const address = env().ORIGIN + repoHref(repo);
  const { name, defaultBranch: branch } = repo;
  return (
    <SectionCard
      title="Add the first files"
      description="On your machine, with git; or write one here in the browser."
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
          When git asks: your username is <code>{session?.user.username}</code>, and the password is an{" "}
          <Link prefetch={false} href="/settings/tokens/new?for=git" className="link">
            access token
          </Link>{" "}
          that may change the content of repositories (<code>write-repos</code>). Your own password does not work.
        </p>
      </div>
    </SectionCard>
  );
}
