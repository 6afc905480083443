import { repoPath } from "@keyhook/sdk";
import { ChevronDown } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { buttonClass } from "../../../../../_components/button.tsx";
import { CopyField } from "../../../../../_components/copy-field.tsx";

/** What git calls the repository. */
export function cloneUrl({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return env().ORIGIN + repoPath(type, fullName);
}

/** The line that fetches the whole of it. It opens without any script; on a telephone as wide as what it stands in. */
export function CloneMenu({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <details className="sm:relative">
      <summary className={buttonClass({ size: "small" })}>
        Clone
        <ChevronDown className="size-4 text-muted" aria-hidden="true" />
      </summary>
      <div className="absolute inset-x-0 top-full z-10 mt-1 grid gap-3 rounded-card border border-line bg-surface p-4 text-small shadow-menu sm:left-auto sm:w-96">
        <CopyField label="With git" value={`git clone ${cloneUrl(repo)}`} />
        <CopyField label="Without the content of large files" value={`GIT_LFS_SKIP_SMUDGE=1 git clone ${cloneUrl(repo)}`} />
        <p className="text-muted">
          {repo.isPrivate || repo.gated !== "none" ? "git asks who you are: your" : "To push, git asks who you are: your"}{" "}
          username, and as the password an{" "}
          <Link prefetch={false} href="/settings/tokens" className="link">
            access token
          </Link>
          .
        </p>
      </div>
    </details>
  );
}
