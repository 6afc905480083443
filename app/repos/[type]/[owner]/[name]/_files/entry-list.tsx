import { CornerDownRight, File, FileSymlink, Folder, FolderGit2, type LucideIcon } from "lucide-react";
import Link from "next/link";
import type { Entry } from "#core/hub/git/read/entry.ts";
import type { EntryType } from "#core/hub/git/read/tree-entries.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { Chip } from "../../../../../_components/chip.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { repoFileHref, repoHref } from "../../../../../_server/repo-page.ts";
import { byteSize } from "./byte-size.ts";

export type EntryListProps = Readonly<{
  repo: Repo;
  revision: string;
  /** The folder; empty for the root. */
  path: string;
  entries: readonly Entry[];
  now: Date;
}>;

const icons: Record<EntryType, LucideIcon> = { directory: Folder, file: File, symlink: FileSymlink, submodule: FolderGit2 };
const words: Record<EntryType, string> = { directory: "folder", file: "file", symlink: "symbolic link", submodule: "submodule" };

/** What is in a folder, with sizes and what changed each last. On a telephone the commits are left out. */
export function EntryList({ repo, revision, path, entries, now }: EntryListProps) {
  return (
    <table className="entries">
      <colgroup>
        <col />
        <col className="w-20 sm:w-32" />
        <col className="hidden md:table-column" />
        <col className="hidden w-36 sm:table-column" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Size</th>
          <th scope="col">Last commit</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {path !== "" && (
          <tr>
            <td colSpan={4}>
              <Link prefetch={false} href={repoFileHref(repo, "tree", revision, parentOf(path))}>
                <CornerDownRight className="-scale-x-100" aria-hidden="true" />
                <span>
                  ..<span className="sr-only"> (the folder above)</span>
                </span>
              </Link>
            </td>
          </tr>
        )}
        {entries.map((entry) => (
          <EntryRow key={entry.path} repo={repo} revision={revision} entry={entry} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRow({ repo, revision, entry, now }: Readonly<{ repo: Repo; revision: string; entry: Entry; now: Date }>) {
  const { type, path, name, size, lfs, lastCommit } = entry;
  const Icon = icons[type];
  const label = (
    <>
      <Icon aria-hidden="true" />
      <span className="name">
        <bdi>{name}</bdi>
        <span className="sr-only"> ({words[type]})</span>
      </span>
    </>
  );
  return (
    <tr>
      <td>
        {type === "submodule" ? (
          <span>{label}</span>
        ) : (
          <Link prefetch={false} href={repoFileHref(repo, type === "directory" ? "tree" : "blob", revision, path)}>
            {label}
          </Link>
        )}
      </td>
      <td>
        {lfs && (
          <span className="mr-2 hidden sm:inline">
            <Chip>LFS</Chip>
          </span>
        )}
        {type === "file" && byteSize(size)}
      </td>
      <td>
        {lastCommit && (
          <Link prefetch={false} href={repoHref(repo, "commit", lastCommit.sha)}>
            {lastCommit.title || "(no message)"}
          </Link>
        )}
      </td>
      <td>{lastCommit && <RelativeTime at={lastCommit.author.at} now={now} />}</td>
    </tr>
  );
}

const parentOf = (path: string): string => path.split("/").slice(0, -1).join("/");
