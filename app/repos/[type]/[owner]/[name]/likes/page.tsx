import { Heart } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { countLikers, LIKES_PAGE, LIKES_PAGES_MAX, listLikers } from "#core/hub/repos/likes.ts";
import { Avatar, avatarSrc } from "../../../../../_components/avatar.tsx";
import { EmptyState, ListRow, PagedList } from "../../../../../_components/list.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { hrefWith, type PageQuery, pageOf } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../_server/repo-page.ts";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "Likes" };

export default async function LikesPage({ params, searchParams }: Props) {
  const [{ repo, actor }, query] = await Promise.all([repoPage(params), searchParams]);
  const page = pageOf(query.page, LIKES_PAGES_MAX);
  const [items, total] = await Promise.all([listLikers(actor, repoNameOf(repo), page), countLikers(repo.id)]);
  return (
    <div className="grid gap-4">
      <h2 className="text-title">Likes</h2>
      <PagedList
        label="Users who like this"
        list={{ items, page, pageSize: LIKES_PAGE, total }}
        hrefOf={(at) => hrefWith(repoHref(repo, "likes"), { page: at })}
        row={({ username, fullName, avatarId, likedAt }) => (
          <ListRow
            key={username}
            leading={<Avatar name={fullName || username} src={avatarSrc(username, avatarId)} />}
            title={
              <Link prefetch={false} href={`/${username}`} className="link min-w-0 break-words">
                <bdi>{fullName || username}</bdi>
              </Link>
            }
            meta={
              <>
                {username} · <RelativeTime at={likedAt} />
              </>
            }
          />
        )}
        empty={
          <EmptyState Icon={Heart} title="No likes yet">
            Users who like this appear here.
          </EmptyState>
        }
      />
    </div>
  );
}
