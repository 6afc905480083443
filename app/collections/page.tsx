import { Library, SearchX } from "lucide-react";
import type { Metadata } from "next";
import { anonymous, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ownerColumns } from "#core/hub/repos/repo.ts";
import { ButtonLink } from "../_components/button.tsx";
import { EmptyState, PagedList } from "../_components/list.tsx";
import { PageHeader } from "../_components/page-layout.tsx";
import { SearchForm } from "../_components/search-form.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { type PageQuery, searchOf, textOf } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { CollectionRow } from "./collection-row.tsx";
import { COLLECTIONS_PATH, collectionsPath, newCollectionPath } from "./collections-path.ts";

export const metadata: Metadata = { title: "Collections" };

const PAGE_SIZE = 20;

export default async function CollectionsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [query, session] = await Promise.all([searchParams, currentSession()]);
  const search = searchOf(query.search);
  const owner = textOf(query.owner).trim().slice(0, 100);
  const actor = session ? personActor(session) : anonymous;
  const [collections, found] = await Promise.all([
    listCollections(actor, {
      text: search,
      page: Number(textOf(query.page)),
      pageSize: PAGE_SIZE,
      ...(owner && { owners: [owner] }),
    }),
    owner ? findOwner(owner) : undefined,
  ]);
  // On another user's list, the new collection would not appear.
  const mayCreate = owner
    ? found !== undefined && (await may(actor, "collection.create", ownerColumns(found)))
    : session !== undefined;
  return (
    <SiteFrame width="page">
      <PageHeader
        title={owner ? <bdi>Collections of {owner}</bdi> : "Collections"}
        description="Lists of repositories that belong together."
        {...(owner && { trail: [{ href: COLLECTIONS_PATH, label: "Collections" }] })}
        actions={
          mayCreate &&
          (collections.total > 0 || search) && (
            <ButtonLink href={newCollectionPath(owner)} variant="primary">
              New collection
            </ButtonLink>
          )
        }
      />
      {(collections.total > 0 || search) && (
        <div className="mb-4">
          <SearchForm action={COLLECTIONS_PATH} label="Title or description" value={search}>
            {owner && <input type="hidden" name="owner" value={owner} />}
          </SearchForm>
        </div>
      )}
      <PagedList
        label="Collections"
        things="collections"
        list={collections}
        hrefOf={(page) => collectionsPath({ owner, search, page })}
        row={(collection) => <CollectionRow key={collection.id} collection={collection} isOwnerShown={owner === ""} />}
        empty={<NoCollections search={search} mayCreate={mayCreate} owner={owner} />}
      />
    </SiteFrame>
  );
}

function NoCollections({ search, mayCreate, owner }: Readonly<{ search: string; mayCreate: boolean; owner: string }>) {
  if (search) {
    return (
      <EmptyState
        Icon={SearchX}
        title="No collections match"
        action={<ButtonLink href={collectionsPath({ owner })}>Show all collections</ButtonLink>}
      >
        Search for part of the title or the description.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      Icon={Library}
      title="No collections yet"
      action={
        mayCreate && (
          <ButtonLink href={newCollectionPath(owner)} variant="primary">
            New collection
          </ButtonLink>
        )
      }
    >
      A collection lists models, datasets and Spaces, with notes.
    </EmptyState>
  );
}
