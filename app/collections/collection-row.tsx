import Link from "next/link";
import { collectionPath } from "#core/hub/collections/collection.ts";
import type { ListedCollection } from "#core/hub/collections/list-collections.ts";
import { Chip } from "../_components/chip.tsx";
import { ListRow } from "../_components/list.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";
import { ThemeTile } from "./theme-tile.tsx";

export type CollectionRowProps = Readonly<{
  collection: ListedCollection;
  /** Where all are of one owner, nobody needs to be told whose. */
  isOwnerShown?: boolean;
}>;

/** One collection in a list. */
export function CollectionRow({ collection, isOwnerShown = true }: CollectionRowProps) {
  const { theme, title, description, isPrivate, owner, total, updatedAt } = collection;
  return (
    <ListRow
      leading={<ThemeTile theme={theme} />}
      title={
        <>
          <Link prefetch={false} href={collectionPath(collection)} className="link min-w-0 break-words">
            <bdi>{title}</bdi>
          </Link>
          {isPrivate && <Chip>Private</Chip>}
        </>
      }
      meta={
        <>
          {description && <bdi className="block text-ink">{description}</bdi>}
          {isOwnerShown && (
            <>
              <Link prefetch={false} href={`/${owner.handle}`} className="hover:text-ink">
                {owner.handle}
              </Link>
              {" · "}
            </>
          )}
          {countOfRepos(total)} · updated <RelativeTime at={updatedAt} />
        </>
      }
    />
  );
}

export function countOfRepos(count: number): string {
  return count === 1 ? "1 repository" : `${count.toLocaleString("en")} repositories`;
}
