import { Library } from "lucide-react";
import type { Actor } from "#core/access/actor.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ButtonLink } from "../_components/button.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { List } from "../_components/list.tsx";
import { SectionCard } from "../_components/section-card.tsx";
import { CollectionRow } from "./collection-row.tsx";
import { collectionsPath, newCollectionPath } from "./collections-path.ts";

export type OwnerCollectionsProps = Readonly<{
  handle: string;
  actor: Actor;
  /** May make one here; sees the section while it is empty. */
  mayCreate: boolean;
}>;

const SHOWN = 5;

/** The first collections of a user or an organization, on their page; nothing where there is nothing to see or to do. */
export async function OwnerCollections({ handle, actor, mayCreate }: OwnerCollectionsProps) {
  const { items, total } = await listCollections(actor, { owners: [handle], pageSize: SHOWN });
  if (total === 0 && !mayCreate) return null;
  return (
    <SectionCard
      title="Collections"
      isFlush
      action={
        total > 0 && (
          <ButtonLink href={collectionsPath({ owner: handle })} size="small">
            {total > SHOWN ? `All ${total.toLocaleString("en")}` : "Show"}
            <span className="sr-only"> collections</span>
          </ButtonLink>
        )
      }
    >
      {total === 0 ? (
        <EmptyState
          Icon={Library}
          title="No collections yet"
          action={<ButtonLink href={newCollectionPath(handle)}>New collection</ButtonLink>}
        >
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
