import { repoTypes } from "@keyhook/sdk";
import { CalendarDays, FolderGit2, Library, Link2 } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound, redirect } from "next/navigation";
import { cache, type ReactNode } from "react";
import { type Actor, anonymous, type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { findOwner, type Owner } from "#core/accounts/handles/find-owner.ts";
import { listMembers } from "#core/accounts/organizations/members.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import { countLikesOfUser, LIKES_PAGES_MAX, listLikesOfUser } from "#core/hub/repos/likes.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { ownerColumns } from "#core/hub/repos/repo.ts";
import { Avatar, avatarSrc } from "../_components/avatar.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { Chip } from "../_components/chip.tsx";
import { EmptyState, List, ListRow, PagedList } from "../_components/list.tsx";
import { roleNames } from "../_components/organization-wording.ts";
import { Card, FormMessage, SectionCard } from "../_components/page-layout.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";
import { RepoList } from "../_components/repos/repo-list.tsx";
import { repoTypeLooks } from "../_components/repos/repo-types.ts";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { organizationPath } from "../_server/organization-page.ts";
import { hrefWith, type PageQuery, pageOf, textOf } from "../_server/page-query.ts";
import { repoHref, repoListHref } from "../_server/repo-page.ts";
import { currentSession } from "../_server/session.ts";
import { CollectionRow } from "../collections/collection-row.tsx";
import { collectionsPath, newCollectionPath } from "../collections/collections-path.ts";

type Props = Readonly<{ params: Promise<{ owner: string }>; searchParams: PageQuery }>;

const ownerOf = cache(findOwner);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const owner = await ownerOf((await params).owner);
  return { title: owner && (owner.fullName === owner.handle ? owner.handle : `${owner.fullName} (${owner.handle})`) };
}

export default async function OwnerPage({ params, searchParams }: Props) {
  const [{ owner: handle }, query] = await Promise.all([params, searchParams]);
  const [owner, session] = await Promise.all([ownerOf(handle), currentSession()]);
  if (!owner) notFound();
  if (owner.handle !== handle) redirect(`/${owner.handle}`);
  const person = session && personActor(session);
  const actor = person ?? anonymous;
  const organization = owner.kind === "organization" ? { orgId: owner.id } : undefined;
  const [mayCreate, mayCollect, mayList, isMember = false] = await Promise.all([
    may(actor, "repo.create", ownerColumns(owner)),
    may(actor, "collection.create", ownerColumns(owner)),
    organization && may(actor, "organization.list_members", organization),
    organization && person && may(person, "organization.read_membership", organization),
  ]);
  return (
    <SiteFrame width="page">
      {textOf(query.notice) === "deleted" && (
        <FormMessage tone="good" className="mb-5">
          Repository deleted.
        </FormMessage>
      )}
      <OwnerHeader owner={owner} isOneself={owner.id === person?.userId} isMember={isMember} />
      {person && isMember && (
        <RestrictionNotice userId={person.userId} orgId={owner.id} next={`/${owner.handle}`} className="mt-5" />
      )}
      <div className="mt-7 grid gap-5">
        <ReposSection owner={owner} actor={actor} mayCreate={mayCreate} />
        <CollectionsSection owner={owner} actor={actor} mayCreate={mayCollect} />
      </div>
      {owner.kind === "user" && <LikesSection owner={owner} page={pageOf(query.likes, LIKES_PAGES_MAX)} />}
      {person && mayList && <MembersSection owner={owner} person={person} page={Number(textOf(query.page))} />}
    </SiteFrame>
  );
}

type OwnerHeaderProps = Readonly<{
  owner: Owner;
  isOneself: boolean;
  isMember: boolean;
}>;

const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

function OwnerHeader({ owner, isOneself, isMember }: OwnerHeaderProps) {
  const { kind, handle, fullName, website, avatarId, createdAt } = owner;
  return (
    <header className="flex flex-wrap items-start gap-x-5 gap-y-4">
      <Avatar
        name={fullName || handle}
        src={avatarSrc(handle, avatarId)}
        size="xl"
        kind={kind === "organization" ? "organization" : "person"}
      />
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 break-words">
            <bdi>{fullName || handle}</bdi>
          </h1>
          {kind === "organization" && <Chip>Organization</Chip>}
        </div>
        <p className="break-words text-muted">{handle}</p>
        <ul className="mt-3 grid gap-1 text-muted text-small">
          {website && (
            <Fact icon={<Link2 className="mt-0.5 size-4 shrink-0" aria-hidden="true" />}>
              <a href={website} rel="noopener noreferrer nofollow ugc" className="link break-all">
                {website.replace(/^https?:\/\/|\/$/g, "")}
              </a>
            </Fact>
          )}
          <Fact icon={<CalendarDays className="mt-0.5 size-4 shrink-0" aria-hidden="true" />}>
            {kind === "organization" ? "Created" : "Joined"}{" "}
            <time dateTime={createdAt.toISOString()}>{month.format(createdAt)}</time>
          </Fact>
        </ul>
      </div>
      {isOneself && <ButtonLink href="/settings/profile">Edit profile</ButtonLink>}
      {isMember && <ButtonLink href={organizationPath(handle)}>Manage</ButtonLink>}
    </header>
  );
}

function Fact({ icon, children }: Readonly<{ icon: ReactNode; children: ReactNode }>) {
  return (
    <li className="flex gap-2">
      {icon}
      <span className="min-w-0">{children}</span>
    </li>
  );
}

const LIKES_SHOWN = 8;

async function LikesSection({ owner, page }: Readonly<{ owner: Owner; page: number }>) {
  const [items, total] = await Promise.all([
    listLikesOfUser(owner.id, page, LIKES_SHOWN),
    countLikesOfUser(owner.id, LIKES_SHOWN),
  ]);
  if (total === 0) return null;
  return (
    <div className="mt-5">
      <PagedList
        section={{ title: "Likes" }}
        label="Likes"
        list={{ items, page, pageSize: LIKES_SHOWN, total }}
        hrefOf={(at) => hrefWith(`/${owner.handle}`, { likes: at })}
        row={({ type, fullName, createdAt }) => {
          const { Icon, word } = repoTypeLooks[type];
          return (
            <ListRow
              key={`${type} ${fullName}`}
              leading={<Icon className="size-4 shrink-0 text-muted" role="img" aria-label={word} />}
              title={
                <Link prefetch={false} href={repoHref({ type, fullName })} className="link min-w-0 break-words">
                  {fullName}
                </Link>
              }
              meta={
                <>
                  Liked <RelativeTime at={createdAt} />
                </>
              }
            />
          );
        }}
        empty={null}
      />
    </div>
  );
}

async function MembersSection({ owner, person, page }: Readonly<{ owner: Owner; person: Person; page: number }>) {
  const members = await listMembers(person, owner.id, { page });
  return (
    <div className="mt-5">
      <PagedList
        section={{ title: "Members", description: "Only members can see this list." }}
        label="Members"
        things="members"
        list={members}
        hrefOf={(at) => hrefWith(`/${owner.handle}`, { page: at })}
        row={({ userId, username, fullName, avatarId, role }) => (
          <ListRow
            key={userId}
            leading={<Avatar name={fullName || username} src={avatarSrc(username, avatarId)} />}
            title={
              <Link prefetch={false} href={`/${username}`} className="link min-w-0 break-words">
                <bdi>{fullName || username}</bdi>
              </Link>
            }
            meta={`${username} · ${roleNames[role]}`}
          />
        )}
        empty={null}
      />
    </div>
  );
}

type ReposSectionProps = Readonly<{
  owner: Owner;
  actor: Actor;
  mayCreate: boolean;
}>;

const REPOS_SHOWN = 8;

async function ReposSection({ owner, actor, mayCreate }: ReposSectionProps) {
  const lists = await Promise.all(
    repoTypes.map(async (type) => ({ type, ...(await listRepos(actor, { type, owner: owner.handle, limit: REPOS_SHOWN })) })),
  );
  const found = lists.filter(({ repos }) => repos.length > 0);
  if (found.length === 0) {
    return (
      <Card>
        <EmptyState
          Icon={FolderGit2}
          title={mayCreate ? "No repositories yet" : "No repositories"}
          action={mayCreate && <ButtonLink href={`/new?owner=${owner.handle}`}>New repository</ButtonLink>}
        >
          {mayCreate ? "Models, datasets and Spaces appear here." : "There are none that you can see."}
        </EmptyState>
      </Card>
    );
  }
  return found.map(({ type, repos, nextCursor }) => {
    const { words } = repoTypeLooks[type];
    const all = `${repoListHref(type)}?search=${encodeURIComponent(`${owner.handle}/`)}`;
    return (
      <SectionCard
        key={type}
        title={words}
        isFlush
        action={
          nextCursor && (
            <ButtonLink size="small" href={all}>
              All<span className="sr-only"> {words.toLowerCase()}</span>
            </ButtonLink>
          )
        }
      >
        <RepoList label={words} repos={repos} />
      </SectionCard>
    );
  });
}

const COLLECTIONS_SHOWN = 6;

type CollectionsSectionProps = Readonly<{ owner: Owner; actor: Actor; mayCreate: boolean }>;

async function CollectionsSection({ owner, actor, mayCreate }: CollectionsSectionProps) {
  const { items, total } = await listCollections(actor, { owners: [owner.handle], pageSize: COLLECTIONS_SHOWN });
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
          A collection is a curated list of repositories.
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
