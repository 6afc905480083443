import { Library } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import type { CollectionItem } from "#core/hub/collections/collection.ts";
import { readItemsOf } from "#core/hub/collections/items.ts";
import { ButtonLink } from "../../../_components/button.tsx";
import { Chip } from "../../../_components/chip.tsx";
import { EmptyState, List, ListRow } from "../../../_components/list.tsx";
import { Card, PageHeader } from "../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../_components/relative-time.tsx";
import { SiteFrame } from "../../../_components/site-frame.tsx";
import { repoHref } from "../../../_server/repo-page.ts";
import { countOfRepos, RepoIcon, ThemeTile, wordOfType } from "../../collection-row.tsx";
import { COLLECTIONS_PATH, collectionsPath, editCollectionPath } from "../../collections-path.ts";
import { type CollectionParams, collectionPage } from "./collection-page.ts";

type Props = Readonly<{ params: CollectionParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const page = await collectionPage(params).catch(() => undefined);
  if (!page) return { title: "Not found" };
  const { title, owner, description } = page.collection;
  return { title: `${title} · ${owner.handle}`, description: description ?? undefined };
}

export default async function CollectionPage({ params }: Props) {
  const { collection, actor, mayWrite } = await collectionPage(params);
  const { title, theme, owner, description, isPrivate, updatedAt } = collection;
  const items = await readItemsOf(actor, collection.id);
  return (
    <SiteFrame width="page">
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <ThemeTile theme={theme} />
            <bdi className="min-w-0 break-words">{title}</bdi>
          </span>
        }
        trail={[
          { href: COLLECTIONS_PATH, label: "Collections" },
          { href: collectionsPath({ owner: owner.handle }), label: owner.handle },
        ]}
        status={isPrivate && <Chip>Private</Chip>}
        description={description && <bdi>{description}</bdi>}
        actions={mayWrite && <ButtonLink href={editCollectionPath(collection)}>Edit</ButtonLink>}
      />
      <p className="mb-4 text-muted text-small">
        {countOfRepos(items.length)} · updated <RelativeTime at={updatedAt} />
      </p>
      <Card>
        {items.length === 0 ? (
          <EmptyState
            Icon={Library}
            title={mayWrite ? "This collection is empty" : "No repositories"}
            action={mayWrite && <ButtonLink href={editCollectionPath(collection)}>Add a repository</ButtonLink>}
          >
            {mayWrite ? "Models, datasets and Spaces that are added appear here." : "There are none that you can see."}
          </EmptyState>
        ) : (
          <List label="Repositories">
            {items.map((item) => (
              <Item key={item.id} item={item} />
            ))}
          </List>
        )}
      </Card>
    </SiteFrame>
  );
}

function Item({ item: { repo, note } }: Readonly<{ item: CollectionItem }>) {
  return (
    <ListRow
      leading={<RepoIcon type={repo.type} />}
      title={
        <>
          <Link prefetch={false} href={repoHref(repo)} className="link wrap-anywhere min-w-0">
            {repo.fullName}
          </Link>
          {repo.isPrivate && <Chip>Private</Chip>}
          {repo.gated !== "none" && <Chip tone="warn">Gated</Chip>}
        </>
      }
      meta={
        <>
          {repo.description && <bdi className="block">{repo.description}</bdi>}
          {wordOfType(repo.type)} · updated <RelativeTime at={repo.updatedAt} />
        </>
      }
    >
      {note && <p className="mt-2 whitespace-pre-line break-words border-line border-l-2 pl-3 text-small">{note}</p>}
    </ListRow>
  );
}
