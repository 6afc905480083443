import { Plus } from "lucide-react";
import Link from "next/link";
import { collectionPath } from "#core/hub/collections/collection.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import type { RepoPage } from "../../../../_server/repo-page.ts";
import { addToCollectionPath } from "../../../../collections/collections-path.ts";

const SHOWN = 4;

/** The collections that it is in, as far as the reader may see them, and the way into one of their own. */
export async function RepoCollections({ page: { repo, actor, person } }: Readonly<{ page: RepoPage }>) {
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  const { items, total } = await listCollections(actor, { containing: [name], pageSize: SHOWN });
  if (total === 0 && !person) return null;
  return (
    <section className="grid justify-items-start gap-1.5">
      <h2 className="text-small">Collections</h2>
      {total === 0 && <p className="text-muted">In none yet.</p>}
      {total > 0 && (
        <ul className="grid min-w-0 gap-1">
          {items.map((collection) => (
            <li key={collection.id} className="break-words text-muted">
              <Link prefetch={false} href={collectionPath(collection)} className="link">
                <bdi>{collection.title}</bdi>
              </Link>{" "}
              by {collection.owner.handle}
            </li>
          ))}
        </ul>
      )}
      {total > items.length && <p className="text-muted">And {(total - items.length).toLocaleString("en")} more.</p>}
      {person && (
        <ButtonLink href={addToCollectionPath(repo)} size="small" className="mt-1">
          <Plus className="size-4" aria-hidden="true" />
          Add to a collection
        </ButtonLink>
      )}
    </section>
  );
}
