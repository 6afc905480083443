import { type RepoType, repoPath } from "@keyhook/sdk";
import { HardDrive } from "lucide-react";
import Link from "next/link";
import { readableSize } from "#core/readable-size.ts";
import type { LargeRepo, StorageUsage } from "#core/storage/read-usage.ts";
import { Chip } from "./chip.tsx";
import { Meter, ofLimit } from "./figures.tsx";
import { EmptyState, List, ListRow } from "./list.tsx";
import { FormMessage, SectionCard } from "./page-layout.tsx";

type StorageSectionsProps = Readonly<{ usage: StorageUsage; handle: string; kind: "user" | "organization" }>;

const sizeOrNone = (bytes: number | null): string | null => (bytes === null ? null : readableSize(bytes));

export function StorageSections({ usage, handle, kind }: StorageSectionsProps) {
  const { bytes, files, proposals, repositories, limits, largest } = usage;
  const { used, uploading, quota } = repositories;
  const isFull = quota !== null && used >= quota;
  return (
    <div className="grid grid-cols-1 gap-5">
      {isFull && (
        <FormMessage tone="warn">
          Storage is full: pushes and uploads are refused. Delete repositories that you no longer need, or ask the operator for
          more storage.
        </FormMessage>
      )}
      <SectionCard
        title="Repositories"
        description="Every version of every file counts, including those that are only in the history."
      >
        <div className="grid grid-cols-1 gap-2">
          <Meter label="Git and Git LFS" text={ofLimit(readableSize(used), sizeOrNone(quota))} value={used} max={quota} />
          <p className="text-muted text-small">
            {readableSize(bytes.git)} in git and {readableSize(bytes.lfs)} in Git LFS
            {uploading > 0 && `, and ${readableSize(uploading)} reserved for uploads in progress`}.
            {readableSize(files.logicalBytes) !== readableSize(bytes.lfs) &&
              files.logicalBytes > 0 &&
              ` Without deduplication, the large files would use ${readableSize(files.logicalBytes)}.`}
          </p>
          {proposals.bytes > 0 && (
            <p className="text-muted text-small">
              This includes {readableSize(proposals.bytes)} of large files in your pull requests to others’ repositories. They
              count until their pull request is merged or you delete its commits.
            </p>
          )}
        </div>
      </SectionCard>
      <SectionCard title="Largest repositories" isFlush>
        {largest.length === 0 ? (
          <EmptyState Icon={HardDrive} title="Nothing is stored yet">
            The repositories that use the most storage appear here.
          </EmptyState>
        ) : (
          <List label="Largest repositories">
            {largest.map((repo) => (
              <LargeRepoRow key={repo.id} repo={repo} handle={handle} />
            ))}
          </List>
        )}
      </SectionCard>
      <SectionCard title="Records" description="These do not count against the storage of repositories.">
        <div className="grid grid-cols-1 gap-5">
          {kind === "user" && (
            <Records
              label="Relay inboxes"
              used={bytes.relay}
              limit={limits.relay}
              note="When this is full, deliveries to your relays wait and are retried."
            />
          )}
          <Records
            label="Job logs"
            used={bytes.logs}
            limit={limits.logs}
            note="When this is full, the oldest output is deleted. If that is not enough, jobs are deleted too: first large ones, then the others, oldest first."
          />
          <Records
            label="Delivery attempts and their responses"
            used={bytes.attempts}
            limit={limits.attempts}
            note="When this is full, the oldest responses are deleted first, then the oldest attempts. Deliveries are not affected."
          />
        </div>
      </SectionCard>
    </div>
  );
}

/** @param note what happens at the limit */
function Records({ label, used, limit, note }: Readonly<{ label: string; used: number; limit: number | null; note: string }>) {
  return (
    <div className="grid gap-2">
      <Meter label={label} text={ofLimit(readableSize(used), sizeOrNone(limit))} value={used} max={limit} />
      {limit !== null && <p className="text-muted text-small">{note}</p>}
    </div>
  );
}

const typeNames: Record<RepoType, string> = { model: "Model", dataset: "Dataset", space: "Space" };

function LargeRepoRow({
  repo: { type, name, isPrivate, gitBytes, lfsBytes },
  handle,
}: Readonly<{ repo: LargeRepo; handle: string }>) {
  return (
    <ListRow
      title={
        <>
          <Link prefetch={false} href={repoPath(type, `${handle}/${name}`)} className="link wrap-anywhere min-w-0">
            {name}
          </Link>
          {isPrivate && <Chip>Private</Chip>}
        </>
      }
      meta={`${typeNames[type]}${lfsBytes > 0 ? ` · ${readableSize(gitBytes)} in git, ${readableSize(lfsBytes)} in Git LFS` : ""}`}
      trailing={<span className="text-small tabular-nums">{readableSize(gitBytes + lfsBytes)}</span>}
    />
  );
}
