import { repoPath } from "@keyhook/sdk";
import { ChevronDown } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import { isOnBranch, type Revision, splitRevision } from "#core/hub/git/read/revision.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { CopyButton } from "../../../../../_components/copy-button.client.tsx";
import { CopyField } from "../../../../../_components/copyable.tsx";
import { Disclosure } from "../../../../../_components/disclosure.client.tsx";
import { FormMessage } from "../../../../../_components/page-layout.tsx";
import { decodeSegments, repoFileHref } from "../../../../../_server/repo-page.ts";

/** Each link contains the path above it, so the links of a deep path would make the page large (S137). */
const LINKED_FOLDERS_MAX = 20;

type PathTrailProps = Readonly<{ repo: Repo; revision: string; path: string }>;

export function PathTrail({ repo, revision, path }: PathTrailProps) {
  const names = path === "" ? [] : path.split("/");
  const last = names.length - 1;
  const isLinked = (index: number) => index < last && index >= last - LINKED_FOLDERS_MAX;
  return (
    <nav aria-label="Path" className="flex min-w-0 flex-1 basis-48 items-center gap-1">
      <ol className="wrap-anywhere min-w-0">
        <li className="inline">
          <Step
            href={names.length > 0 ? repoFileHref(repo, "tree", revision) : undefined}
            name={repo.name}
            isCurrent={names.length === 0}
          />
        </li>
        {names.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a folder can be called like one above it
          <li key={index} className="inline">
            <span aria-hidden="true" className="text-muted">
              {" / "}
            </span>
            <Step
              href={isLinked(index) ? repoFileHref(repo, "tree", revision, names.slice(0, index + 1).join("/")) : undefined}
              name={name}
              isCurrent={index === last}
            />
          </li>
        ))}
      </ol>
      {path !== "" && <CopyButton value={path} label="path" />}
    </nav>
  );
}

function Step({ href, name, isCurrent }: Readonly<{ href: string | undefined; name: string; isCurrent: boolean }>) {
  if (!href) {
    return (
      <span aria-current={isCurrent ? "page" : undefined} className={isCurrent ? "font-medium" : "text-muted"}>
        <bdi>{name}</bdi>
      </span>
    );
  }
  return (
    <Link prefetch={false} href={href} className="link">
      <bdi>{name}</bdi>
    </Link>
  );
}

export function cloneUrl({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return env().ORIGIN + repoPath(type, fullName);
}

export function CloneMenu({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <Disclosure
      className="sm:relative"
      look={{ size: "small" }}
      trigger={
        <>
          Clone
          <ChevronDown className="size-4 text-muted" aria-hidden="true" />
        </>
      }
    >
      <div className="absolute inset-x-0 top-full z-10 mt-1 grid gap-3 rounded-card border border-line bg-surface p-4 text-small shadow-menu sm:left-auto sm:w-96">
        <CopyField label="With git" value={`git clone ${cloneUrl(repo)}`} />
        <CopyField label="Without the content of large files" value={`GIT_LFS_SKIP_SMUDGE=1 git clone ${cloneUrl(repo)}`} />
        <p className="text-muted">
          {repo.isPrivate || repo.gated !== "none"
            ? "When git asks for your credentials, use your"
            : "When git asks for your credentials to push, use your"}{" "}
          username, and an{" "}
          <Link prefetch={false} href="/settings/tokens" className="link">
            {" "}
            access token{" "}
          </Link>{" "}
          as the password.
        </p>
      </div>
    </Disclosure>
  );
}

type Props = Readonly<{ repo: Repo; revision: Pick<Revision, "ref" | "sha"> }>;

/** Warns about a commit that is on no branch or tag, because anybody may have written such a commit. */
export async function NotOnBranch({ repo, revision }: Props) {
  if (await isOnBranch(repo, revision)) return null;
  return (
    <FormMessage tone="warn">
      This commit is not on any branch or tag of {repo.fullName}. Anyone who can open a pull request could have pushed it.
    </FormMessage>
  );
}

/** The part of the URL after `tree/`, `blob/` or `commits/`. */
export type RevisionParams = Promise<{ segments?: string[] }>;

/** The revision is empty if the URL ends before it. */
export async function revisionOf(params: RevisionParams): Promise<{ revision: string; path: string }> {
  return splitRevision(decodeSegments((await params).segments));
}

/** Returns undefined for a tag or a commit, where files cannot be changed. */
export function branchOf({ ref }: Revision): string | undefined {
  return ref?.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}
