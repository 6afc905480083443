import { HardDrive, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { readableSize } from "#core/readable-size.ts";
import type { StorageKind } from "#core/storage/limits.ts";
import { listStoringOwners, type StoringOwner } from "#core/storage/manage-quotas.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { Meter, ofLimit } from "../../_components/meter.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { Select } from "../../_components/select.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { STORAGE_PATH, storagePath, storageQuotaPath } from "./storage-path.ts";

export const metadata: Metadata = { title: "Storage · Administration" };

const kinds = ["user", "organization"] as const;

/** Who stores most, and of how much. */
export default async function AdminStoragePage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const kind = kinds.find((each) => each === textOf(query.kind));
  const operator = await requireOperator(STORAGE_PATH);
  const owners = await listStoringOwners(operator, { text: search, kind, page: Number(textOf(query.page)) });
  const { items, page, pageSize, total } = owners;
  if (items.length === 0 && total > 0) redirect(storagePath({ search, kind, page: Math.ceil(total / pageSize) }));
  return (
    <>
      <PageHeader
        title="Storage"
        description="Who stores most, with the records that are kept for them. The largest stand first."
      />
      <div className="grid grid-cols-1 gap-5">
        {textOf(query.notice) === "quota" && <FormMessage tone="good">The quota is changed. It holds at once.</FormMessage>}
        <SearchForm action={STORAGE_PATH} label="Name" value={search}>
          <div className="min-w-44">
            <Select
              name="kind"
              label="Who"
              defaultValue={kind ?? ""}
              options={[
                { value: "", label: "Everybody" },
                { value: "user", label: "People" },
                { value: "organization", label: "Organizations" },
              ]}
            />
          </div>
        </SearchForm>
        <div>
          <Card>
            {total === 0 ? (
              <Nobody isSearched={search !== "" || kind !== undefined} />
            ) : (
              <List label="Storage by owner">
                {items.map((owner) => (
                  <OwnerRow key={owner.id} owner={owner} />
                ))}
              </List>
            )}
          </Card>
          <Pagination
            label="owners"
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(at) => storagePath({ search, kind, page: at })}
          />
        </div>
      </div>
    </>
  );
}

const names: Record<StorageKind, string> = {
  git: "git",
  lfs: "Git LFS",
  relay: "relay inboxes",
  logs: "job logs",
  attempts: "webhook answers",
};

function OwnerRow({ owner }: Readonly<{ owner: StoringOwner }>) {
  const { kind, handle, fullName, avatarId, bytes, total, quota, isQuotaSet } = owner;
  const used = bytes.git + bytes.lfs;
  const parts = (Object.keys(names) as StorageKind[]).filter((each) => bytes[each] > 0);
  return (
    <ListRow
      leading={
        <Avatar name={fullName} src={avatarSrc(handle, avatarId)} kind={kind === "organization" ? "organization" : "person"} />
      }
      title={
        <>
          <Link prefetch={false} href={`/${handle}`} className="link wrap-anywhere min-w-0">
            {handle}
          </Link>
          {kind === "organization" && <Chip>Organization</Chip>}
          {isQuotaSet && <Chip>Own quota</Chip>}
        </>
      }
      meta={
        parts.length === 0
          ? "Nothing is stored"
          : `${readableSize(total)}: ${parts.map((each) => `${readableSize(bytes[each])} ${names[each]}`).join(" · ")}`
      }
      trailing={
        <ButtonLink size="small" href={storageQuotaPath(handle)}>
          Change quota<span className="sr-only"> of {handle}</span>
        </ButtonLink>
      }
    >
      <div className="mt-3">
        <Meter
          label="Repositories"
          text={ofLimit(readableSize(used), quota === null ? null : readableSize(quota))}
          value={used}
          max={quota}
        />
      </div>
    </ListRow>
  );
}

function Nobody({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState
        Icon={SearchX}
        title="Nobody is like that"
        action={<ButtonLink href={STORAGE_PATH}>Show everybody who stores something</ButtonLink>}
      >
        A name is found by any part of it.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={HardDrive} title="Nothing is stored yet">
      People and organizations stand here once they have files in a repository.
    </EmptyState>
  );
}
