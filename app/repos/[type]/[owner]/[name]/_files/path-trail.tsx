import Link from "next/link";
import type { Repo } from "#core/hub/repos/repo.ts";
import { CopyButton } from "../../../../../_components/copy-button.client.tsx";
import { repoFileHref } from "../../../../../_server/repo-page.ts";

export type PathTrailProps = Readonly<{ repo: Repo; revision: string; path: string }>;

/** Where one is in the tree: each folder leads back to itself. */
export function PathTrail({ repo, revision, path }: PathTrailProps) {
  const names = path === "" ? [] : path.split("/");
  const last = names.length - 1;
  return (
    <nav aria-label="Path" className="flex min-w-0 flex-1 basis-48 items-center gap-1">
      <ol className="wrap-anywhere min-w-0">
        <li className="inline">
          <Step href={names.length > 0 ? repoFileHref(repo, "tree", revision) : undefined} name={repo.name} />
        </li>
        {names.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a folder can be called like one above it
          <li key={index} className="inline">
            <span aria-hidden="true" className="text-muted">
              {" / "}
            </span>
            <Step
              href={index < last ? repoFileHref(repo, "tree", revision, names.slice(0, index + 1).join("/")) : undefined}
              name={name}
            />
          </li>
        ))}
      </ol>
      {path !== "" && <CopyButton value={path} label="path" />}
    </nav>
  );
}

function Step({ href, name }: Readonly<{ href: string | undefined; name: string }>) {
  if (!href) {
    return (
      <span aria-current="page" className="font-medium">
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
