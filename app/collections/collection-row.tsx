import type { RepoType } from "@keyhook/sdk";
import { Box, Database, LayoutGrid, Library, type LucideIcon } from "lucide-react";
import Link from "next/link";
import { collectionPath, type Theme } from "#core/hub/collections/collection.ts";
import type { ListedCollection } from "#core/hub/collections/list-collections.ts";
import { Chip } from "../_components/chip.tsx";
import { classNames } from "../_components/class-names.ts";
import { ListRow } from "../_components/list.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";

type CollectionRowProps = Readonly<{
  collection: ListedCollection;
  isOwnerShown?: boolean;
}>;

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
          {description && <bdi className="block">{description}</bdi>}
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

const grounds: Record<Theme, string> = {
  orange: "bg-tile-5",
  blue: "bg-tile-4",
  green: "bg-tile-2",
  purple: "bg-tile-8",
  pink: "bg-tile-7",
  indigo: "bg-tile-6",
};

export function ThemeTile({ theme }: Readonly<{ theme: Theme }>) {
  return (
    <span className={classNames("grid size-9 shrink-0 place-items-center rounded-control text-white", grounds[theme])}>
      <Library className="size-4.5" aria-hidden="true" />
    </span>
  );
}

const looks: Record<RepoType, { Icon: LucideIcon; word: string }> = {
  model: { Icon: Box, word: "Model" },
  dataset: { Icon: Database, word: "Dataset" },
  space: { Icon: LayoutGrid, word: "Space" },
};

export const wordOfType = (type: RepoType): string => looks[type].word;

export function RepoIcon({ type }: Readonly<{ type: RepoType }>) {
  const { Icon } = looks[type];
  return <Icon className="size-4.5 shrink-0 self-start mt-0.5 text-muted" aria-hidden="true" />;
}
