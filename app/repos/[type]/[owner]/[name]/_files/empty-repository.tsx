import { FolderOpen } from "lucide-react";
import Link from "next/link";
import type { Repo } from "#core/hub/repos/repo.ts";
import { CodeBlock } from "../../../../../_components/copyable.tsx";
import { EmptyState } from "../../../../../_components/list.tsx";
import { Card } from "../../../../../_components/page-layout.tsx";
import { cloneUrl } from "./path-trail.tsx";

/** Shown for a branch without commits, with the push commands for people who may write. */
export function EmptyRepository({ repo, mayWrite }: Readonly<{ repo: Repo; mayWrite: boolean }>) {
  const url = cloneUrl(repo);
  const begin = [
    `git clone ${url}`,
    `cd ${repo.name}`,
    `echo "# ${repo.name}" > README.md`,
    "git add README.md",
    'git commit -m "Add a README"',
    `git push -u origin HEAD:${repo.defaultBranch}`,
  ];
  const bring = [`git remote add origin ${url}`, `git push -u origin HEAD:${repo.defaultBranch}`];
  return (
    <Card>
      <EmptyState Icon={FolderOpen} title={<h2>No files yet</h2>}>
        {mayWrite ? "Push a first commit to see its files here." : "Nothing has been pushed yet."}
      </EmptyState>
      {mayWrite && (
        <div className="grid gap-5 border-line border-t px-4 py-5 sm:px-5">
          <section className="grid gap-2">
            <h3 className="font-medium">Start here</h3>
            <CodeBlock label="commands that create the first commit" code={begin.join("\n")} />
          </section>
          <section className="grid gap-2">
            <h3 className="font-medium">Push an existing repository</h3>
            <CodeBlock label="commands that push an existing repository" code={bring.join("\n")} />
          </section>
          <p className="text-muted text-small">
            When git asks for your credentials, use your username, and an{" "}
            <Link prefetch={false} href="/settings/tokens" className="link">
              access token
            </Link>{" "}
            as the password.
          </p>
        </div>
      )}
    </Card>
  );
}
