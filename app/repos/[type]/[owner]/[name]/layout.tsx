import type { Metadata } from "next";
import type { ReactNode } from "react";
import { countOpenDiscussions } from "#core/hub/discussions/count-open-discussions.ts";
import { SiteFrame } from "../../../../_components/site-frame.tsx";
import { type RepoParams, repoHref, repoPage } from "../../../../_server/repo-page.ts";
import { RepoHeader } from "./repo-header.tsx";
import { RepoTabs } from "./repo-tabs.tsx";

type Props = Readonly<{ params: RepoParams; children: ReactNode }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  // What is not found says so below, in the layout; here it would take the title away.
  const page = await repoPage(params).catch(() => undefined);
  if (!page) return { title: "Not found" };
  const { repo } = page;
  return { title: { default: repo.fullName, template: `%s · ${repo.fullName}` }, description: repo.description ?? undefined };
}

/** The frame of every page of a repository: what it is, and its pages. It has the `h1`; pages begin with `h2`. */
export default async function RepoLayout({ params, children }: Props) {
  const { repo, mayManage, mayReadContent } = await repoPage(params);
  const isHere = repo.platformId === null;
  const openCount = repo.hasDiscussions ? await countOpenDiscussions(repo) : 0;
  const tabs = [
    { href: repoHref(repo), label: "Card", isExact: true },
    ...(repo.type === "space" && isHere && mayReadContent ? [{ href: repoHref(repo, "serving"), label: "App" }] : []),
    ...(isHere ? [{ href: repoHref(repo, "tree", repo.defaultBranch), section: filePages(repo), label: "Files" }] : []),
    ...(repo.hasDiscussions ? [{ href: repoHref(repo, "discussions"), label: "Discussions", count: openCount }] : []),
    ...(mayManage ? [{ href: repoHref(repo, "settings"), label: "Settings" }] : []),
  ];
  return (
    <SiteFrame>
      <main id="main">
        <header className="border-line border-b bg-surface">
          <div className="mx-auto w-full max-w-page px-4 sm:px-5">
            <RepoHeader repo={repo} />
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
