import { FolderOpen } from "lucide-react";
import Link from "next/link";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { CodeBlock } from "../../../../../_components/copyable.tsx";
import { EmptyState } from "../../../../../_components/list.tsx";
import { Card, SectionCard } from "../../../../../_components/page-layout.tsx";
import { shellWord } from "../../../../../_components/shell-word.ts";
import { Tabs } from "../../../../../_components/tabs.tsx";
import { type RepoPage, repoFileHref } from "../../../../../_server/repo-page.ts";
import { cloneUrl } from "./path-trail.tsx";

type EmptyRepositoryProps = Readonly<{ page: Pick<RepoPage, "repo" | "mayWrite" | "session"> }>;

export function EmptyRepository({ page: { repo, mayWrite, session } }: EmptyRepositoryProps) {
  if (!mayWrite) {
    return (
      <Card>
        <EmptyState Icon={FolderOpen} title={<h2>No files yet</h2>}>
          Nothing has been pushed yet.
        </EmptyState>
      </Card>
    );
  }
  const url = cloneUrl(repo);
  const { name, defaultBranch: branch } = repo;
  const target = `HEAD:${shellWord(branch)}`;
  return (
    <SectionCard
      title="First files"
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
                  code={`git clone ${url}\ncd ${name}\necho "# ${name}" > README.md\ngit add .\ngit commit -m "Add a README"\ngit push origin ${target}`}
                />
              ),
            },
            {
              label: "A folder with commits",
              content: (
                <CodeBlock
                  label="commands for a folder that has commits"
                  code={`git remote add origin ${url}\ngit push -u origin ${target}`}
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
