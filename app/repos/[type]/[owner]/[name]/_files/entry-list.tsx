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
    <table className="w-full table-fixed text-small">
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Size</th>
          <th scope="col">Last commit</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {path !== "" && (
          <tr>
            <td colSpan={4} className="px-3 py-2">
              <Link
                prefetch={false}
                href={repoFileHref(repo, "tree", revision, parentOf(path))}
                className="flex items-center gap-2.5"
              >
                <CornerDownRight className="size-4 shrink-0 -scale-x-100 text-muted" aria-hidden="true" />
                <span className="hover:underline">
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
      <Icon className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden="true" />
      <span className="wrap-anywhere min-w-0 whitespace-pre-wrap group-hover:underline">
        <bdi>{name}</bdi>
        <span className="sr-only"> ({words[type]})</span>
      </span>
    </>
  );
  return (
    <tr className="hover:bg-sunken">
      <td className="px-3 py-2">
        {type === "submodule" ? (
          <span className="flex gap-2.5">{label}</span>
        ) : (
          <Link
            prefetch={false}
            href={repoFileHref(repo, type === "directory" ? "tree" : "blob", revision, path)}
            className="group flex gap-2.5"
          >
            {label}
          </Link>
        )}
      </td>
      <td className="w-24 whitespace-nowrap px-2 py-1.5 text-right text-muted sm:w-36">
        {lfs && (
          <span className="mr-2 hidden sm:inline">
            <Chip>LFS</Chip>
          </span>
        )}
        {type === "file" && byteSize(size)}
      </td>
      <td className="hidden px-3 py-2 md:table-cell">
        {lastCommit && (
          <Link
            prefetch={false}
            href={repoHref(repo, "commit", lastCommit.sha)}
            className="block truncate text-muted hover:underline"
          >
            {lastCommit.title || "(no message)"}
          </Link>
        )}
      </td>
      <td className="hidden w-36 px-3 py-2 text-right text-muted sm:table-cell">
        {lastCommit && <RelativeTime at={lastCommit.author.at} now={now} />}
      </td>
    </tr>
  );
}

const parentOf = (path: string): string => path.split("/").slice(0, -1).join("/");
