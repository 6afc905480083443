import Link from "next/link";
import type { Actor } from "#core/access/actor.ts";
import type { Owner } from "#core/accounts/handles/find-owner.ts";
import { collectionPath } from "#core/hub/collections/collection.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Chip } from "../_components/chip.tsx";
import { List, ListRow } from "../_components/list.tsx";
import { SectionCard } from "../_components/section-card.tsx";

const SHOWN = 6;

/** The collections of somebody, as they have put them; nothing where there are none. */
export async function CollectionsSection({ owner, actor }: Readonly<{ owner: Owner; actor: Actor }>) {
  const { items, total } = await listCollections(actor, { owners: [owner.handle], pageSize: SHOWN });
  if (items.length === 0) return null;
  return (
    <SectionCard
      title="Collections"
      isFlush
      action={
        total > items.length && (
          <ButtonLink size="small" href={`/collections?owner=${owner.handle}`}>
            All<span className="sr-only"> collections</span>
          </ButtonLink>
        )
      }
    >
      <List label="Collections">
        {items.map((collection) => (
          <ListRow
            key={collection.id}
            title={
              <>
                <Link prefetch={false} href={collectionPath(collection)} className="link min-w-0 break-words">
                  {collection.title}
                </Link>
                {collection.isPrivate && <Chip>Private</Chip>}
              </>
            }
            meta={[collection.description, `${collection.total} ${collection.total === 1 ? "repository" : "repositories"}`]
              .filter(Boolean)
              .join(" · ")}
          />
        ))}
      </List>
    </SectionCard>
  );
}
