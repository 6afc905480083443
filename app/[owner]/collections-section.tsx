import { Library } from "lucide-react";
import type { Actor } from "#core/access/actor.ts";
import type { Owner } from "#core/accounts/handles/find-owner.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ButtonLink } from "../_components/button.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { List } from "../_components/list.tsx";
import { SectionCard } from "../_components/section-card.tsx";
import { CollectionRow } from "../collections/collection-row.tsx";
import { collectionsPath, newCollectionPath } from "../collections/collections-path.ts";

const SHOWN = 6;

export type CollectionsSectionProps = Readonly<{ owner: Owner; actor: Actor; mayCreate: boolean }>;

/** The collections of somebody, as they have put them; nothing where there is nothing to see or to do. */
export async function CollectionsSection({ owner, actor, mayCreate }: CollectionsSectionProps) {
  const { items, total } = await listCollections(actor, { owners: [owner.handle], pageSize: SHOWN });
  if (total === 0 && !mayCreate) return null;
  const add = (
    <ButtonLink size="small" href={newCollectionPath(owner.handle)}>
      New collection
    </ButtonLink>
  );
  return (
    <SectionCard
      title="Collections"
      isFlush
      action={
        total > 0 && (
          <span className="flex flex-wrap gap-2">
            {total > items.length && (
              <ButtonLink size="small" href={collectionsPath({ owner: owner.handle })}>
                All<span className="sr-only"> collections</span>
              </ButtonLink>
            )}
            {mayCreate && add}
          </span>
        )
      }
    >
      {total === 0 ? (
        <EmptyState Icon={Library} title="No collections yet" action={add}>
          A collection gathers repositories that belong together.
        </EmptyState>
      ) : (
        <List label="Collections">
          {items.map((collection) => (
            <CollectionRow key={collection.id} collection={collection} isOwnerShown={false} />
          ))}
        </List>
      )}
    </SectionCard>
  );
}
