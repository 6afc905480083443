import { FolderOpen } from "lucide-react";
import Link from "next/link";
import type { Repo } from "#core/hub/repos/repo.ts";
import { Card } from "../../../../../_components/card.tsx";
import { CodeBlock } from "../../../../../_components/code-block.tsx";
import { EmptyState } from "../../../../../_components/empty-state.tsx";
import { cloneUrl } from "./clone-menu.tsx";

/** A branch without commits: what is missing, and for whoever may write the lines that change it. */
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
        {mayWrite ? "Push a first commit, and its files are shown here." : "Whoever writes to it has not pushed anything so far."}
      </EmptyState>
      {mayWrite && (
        <div className="grid gap-5 border-line border-t px-4 py-5 sm:px-5">
          <section className="grid gap-2">
            <h3 className="font-medium">Begin here</h3>
            <CodeBlock label="commands that begin the repository" code={begin.join("\n")} />
          </section>
          <section className="grid gap-2">
            <h3 className="font-medium">Bring what you have</h3>
            <CodeBlock label="commands that push an existing repository" code={bring.join("\n")} />
          </section>
          <p className="text-muted text-small">
            git asks for your username, and for an{" "}
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
