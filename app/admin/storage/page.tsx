import { HardDrive, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { readableSize } from "#core/readable-size.ts";
import type { StorageKind } from "#core/storage/limits.ts";
import { listStoringOwners, type StoringOwner } from "#core/storage/manage-quotas.ts";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { Meter, ofLimit } from "../../_components/figures.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { Filter, SearchForm } from "../../_components/search-form.tsx";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { STORAGE_PATH, storageQuotaPath } from "../paths.ts";

export const metadata: Metadata = { title: "Storage · Administration" };

const kinds = ["user", "organization"] as const;

export default async function AdminStoragePage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const kind = kinds.find((each) => each === textOf(query.kind));
  const operator = await requireOperator(STORAGE_PATH);
  const owners = await listStoringOwners(operator, { text: search, kind, page: Number(textOf(query.page)) });
  return (
    <ListPage
      title="Storage"
      description="Storage by owner, largest first."
      notice={noticeOf({ quota: "Quota changed." }, query.notice)}
      label="Storage by owner"
      things="owners"
      list={owners}
      hrefOf={(page) => hrefWith(STORAGE_PATH, { search, kind, page })}
      row={(owner) => <OwnerRow key={owner.id} owner={owner} />}
      empty={<Nobody isSearched={search !== "" || kind !== undefined} />}
    >
      <SearchForm action={STORAGE_PATH} label="Name" value={search}>
        <Filter
          name="kind"
          label="Who"
          value={kind}
          any="Everybody"
          options={[
            { value: "user", label: "People" },
            { value: "organization", label: "Organizations" },
          ]}
        />
      </SearchForm>
    </ListPage>
  );
}

const names: Record<StorageKind, string> = {
  git: "git",
  lfs: "Git LFS",
  relay: "relay inboxes",
  logs: "job logs",
  attempts: "webhook responses",
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
          {isQuotaSet && <Chip>Custom quota</Chip>}
        </>
      }
      meta={
        parts.length === 0
          ? "Nothing stored"
          : `${parts.length > 1 ? `${readableSize(total)}: ` : ""}${parts.map((each) => `${readableSize(bytes[each])} ${names[each]}`).join(" · ")}`
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
      <EmptyState Icon={SearchX} title="No owners match" action={<ButtonLink href={STORAGE_PATH}>Show all owners</ButtonLink>}>
        Enter part of a name.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={HardDrive} title="Nothing is stored yet">
      Users and organizations that store something appear here.
    </EmptyState>
  );
}
