import { Library, SearchX } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { anonymous, personActor } from "#core/access/actor.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Card } from "../_components/card.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { List } from "../_components/list.tsx";
import { PageBody } from "../_components/page-body.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { Pagination } from "../_components/pagination.tsx";
import { SearchForm } from "../_components/search-form.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { type PageQuery, searchOf, textOf } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { CollectionRow } from "./collection-row.tsx";
import { COLLECTIONS_PATH, collectionsPath, newCollectionPath } from "./collections-path.ts";

export const metadata: Metadata = { title: "Collections" };

const PAGE_SIZE = 20;

/** Every collection that the reader may see, or those of one owner. */
export default async function CollectionsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [query, session] = await Promise.all([searchParams, currentSession()]);
  const search = searchOf(query.search);
  const owner = textOf(query.owner).trim().slice(0, 100);
  const actor = session ? personActor(session) : anonymous;
  const { items, page, pageSize, total } = await listCollections(actor, {
    text: search,
    page: Number(textOf(query.page)),
    pageSize: PAGE_SIZE,
    ...(owner && { owners: [owner] }),
  });
  if (items.length === 0 && total > 0) redirect(collectionsPath({ search, owner, page: Math.ceil(total / pageSize) }));
  return (
    <SiteFrame>
      <PageBody>
        <PageHeader
          title={owner ? <bdi>Collections of {owner}</bdi> : "Collections"}
          description="Repositories that belong together, put in order by somebody."
          {...(owner && { trail: [{ href: COLLECTIONS_PATH, label: "Collections" }] })}
          actions={
            session && (
              <ButtonLink href={newCollectionPath(owner)} variant="primary">
                New collection
              </ButtonLink>
            )
          }
        />
        <Card>
          {(total > 0 || search) && (
            <div className="border-line border-b px-4 py-4 sm:px-5">
              <SearchForm action={COLLECTIONS_PATH} label="Title or description" value={search}>
                {owner && <input type="hidden" name="owner" value={owner} />}
              </SearchForm>
            </div>
          )}
          {total === 0 ? (
            <NoCollections search={search} isSignedIn={session !== undefined} owner={owner} />
          ) : (
            <List label="Collections">
              {items.map((collection) => (
                <CollectionRow key={collection.id} collection={collection} isOwnerShown={owner === ""} />
              ))}
            </List>
          )}
        </Card>
        <Pagination
          label="collections"
          page={page}
          pageSize={pageSize}
          total={total}
          hrefOf={(at) => collectionsPath({ search, owner, page: at })}
        />
      </PageBody>
    </SiteFrame>
  );
}

function NoCollections({ search, isSignedIn, owner }: Readonly<{ search: string; isSignedIn: boolean; owner: string }>) {
  if (search) {
    return (
      <EmptyState
        Icon={SearchX}
        title="No collection is like that"
        action={<ButtonLink href={collectionsPath({ owner })}>Show all collections</ButtonLink>}
      >
        A collection is found by any part of its title or its description.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      Icon={Library}
      title="No collections yet"
      action={isSignedIn && <ButtonLink href={newCollectionPath(owner)}>Make the first one</ButtonLink>}
    >
      A collection gathers models, datasets and Spaces, with a note on each where one is wanted.
    </EmptyState>
  );
}
