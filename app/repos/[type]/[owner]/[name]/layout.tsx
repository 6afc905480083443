import type { Metadata } from "next";
import Link from "next/link";
import type { ReactNode } from "react";
import { countOpenDiscussions } from "#core/hub/discussions/find-discussion.ts";
import { CopyButton } from "../../../../_components/copy-button.client.tsx";
import { NavLink } from "../../../../_components/navigation.client.tsx";
import { RepoChips } from "../../../../_components/repos/repo-list.tsx";
import { repoTypeLooks } from "../../../../_components/repos/repo-types.ts";
import { SiteFrame } from "../../../../_components/site-frame.tsx";
import { type RepoPage, type RepoParams, repoHref, repoListHref, repoPage } from "../../../../_server/repo-page.ts";
import { LikeButton } from "./likes/like-button.tsx";

type Props = Readonly<{ params: RepoParams; children: ReactNode }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  // The layout below reports a missing repository. An error here would remove the title.
  const page = await repoPage(params).catch(() => undefined);
  if (!page) return { title: "Not found" };
  const { repo } = page;
  return { title: { default: repo.fullName, template: `%s · ${repo.fullName}` }, description: repo.description ?? undefined };
}

/** The layout has the `h1`, so pages start with `h2`. */
export default async function RepoLayout({ params, children }: Props) {
  const page = await repoPage(params);
  const { repo, mayManage, mayWrite } = page;
  const isHere = repo.platformId === null;
  const openCount = repo.hasDiscussions ? await countOpenDiscussions(repo) : 0;
  const tabs = [
    { href: repoHref(repo), label: repo.type === "space" ? "App" : "Card", isExact: true },
    ...(isHere ? [{ href: repoHref(repo, "tree", repo.defaultBranch), section: filePages(repo), label: "Files" }] : []),
    ...(repo.hasDiscussions ? [{ href: repoHref(repo, "discussions"), label: "Discussions", count: openCount }] : []),
    ...(repo.type === "space" && isHere && mayWrite ? [{ href: repoHref(repo, "serving"), label: "Runtime" }] : []),
    ...(mayManage ? [{ href: repoHref(repo, "settings"), label: "Settings" }] : []),
  ];
  return (
    <SiteFrame modelPath={repo.type === "model" ? repoHref(repo) : undefined}>
      <main id="main">
        <header className="border-line border-b bg-surface">
          <div className="mx-auto w-full max-w-page px-4 sm:px-5">
            <RepoHeader page={page} />
            <RepoTabs tabs={tabs} />
          </div>
        </header>
        <div className="mx-auto w-full max-w-page px-4 py-6 sm:px-5">{children}</div>
      </main>
    </SiteFrame>
  );
}

const FILE_PAGES = ["tree", "blob", "commits", "commit", "branches", "tags", "compare", "new", "edit", "upload", "delete"];

function filePages(repo: Parameters<typeof repoHref>[0]): readonly string[] {
  return FILE_PAGES.map((page) => repoHref(repo, page));
}

const TAGS_SHOWN = 12;

function RepoHeader({ page }: Readonly<{ page: RepoPage }>) {
  const { repo } = page;
  const { type, owner, name, fullName, description, tags } = repo;
  const { Icon, word } = repoTypeLooks[type];
  return (
    <div className="pt-5 pb-3">
      <p className="text-muted text-small">
        <Link prefetch={false} href={repoListHref(type)} className="inline-flex items-center gap-1.5 hover:text-ink">
          <Icon className="size-4" aria-hidden="true" />
          {word}
        </Link>
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0">
          <h1 className="inline break-words">
            <Link prefetch={false} href={`/${owner.handle}`} className="font-normal text-muted hover:text-ink">
              {owner.handle}
            </Link>
            <span className="font-normal text-muted"> / </span>
            <span className="inline-block max-w-full break-words">{name}</span>
          </h1>
          <span className="ml-1 inline-block align-middle">
            <CopyButton value={fullName} label={fullName} />
          </span>
        </div>
        <RepoChips repo={repo} />
        <div className="sm:ml-auto">
          <LikeButton page={page} />
        </div>
      </div>
      {description && <p className="mt-2 max-w-reading break-words text-muted">{description}</p>}
      {tags.length > 0 && (
        <ul aria-label="Tags" className="mt-2.5 flex flex-wrap gap-1.5">
          {tags.slice(0, TAGS_SHOWN).map((tag) => (
            <li key={tag} className="min-w-0">
              <Link
                prefetch={false}
                href={`${repoListHref(type)}?tag=${encodeURIComponent(tag)}`}
                className="inline-block max-w-full break-words rounded-control border border-line px-2 py-0.5 text-fine text-muted hover:text-ink"
              >
                {tag}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type RepoTab = Readonly<{
  href: string;
  label: string;
  isExact?: boolean;
  section?: string | readonly string[];
  count?: number;
}>;

function RepoTabs({ tabs }: Readonly<{ tabs: readonly RepoTab[] }>) {
  return (
    <nav aria-label="Repository" className="tab-list">
      {tabs.map(({ label, count = 0, ...link }) => (
        <NavLink key={label} {...link}>
          {label}
          {count > 0 && (
            <span className="ml-1.5 rounded-full bg-sunken px-1.5 py-0.5 text-fine text-muted">{count.toLocaleString("en")}</span>
          )}
        </NavLink>
      ))}
    </nav>
  );
}
