import { Search, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { Excerpt } from "../_components/excerpt.tsx";
import { EmptyState, List, ListRow } from "../_components/list.tsx";
import { Card, PageHeader, SectionCard } from "../_components/page-layout.tsx";
import { SearchForm } from "../_components/search-form.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { findEverything } from "../_server/find-everything.ts";
import { hrefWith, type PageQuery, searchOf } from "../_server/page-query.ts";

export const metadata: Metadata = { title: "Search" };

const SHOWN = 20;

export default async function SearchPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const search = searchOf((await searchParams).search);
  const groups = await findEverything(search, SHOWN);
  return (
    <SiteFrame width="page">
      <PageHeader title="Search" />
      <div className="grid gap-5">
        <SearchForm action="/search" label="Repositories, people, organizations, pages and docs" value={search} />
        {groups.map(({ label, items }) => (
          <SectionCard
            key={label}
            title={label}
            action={
              label === "Docs" && (
                <Link prefetch={false} href={hrefWith("/docs", { search })} className="link text-small">
                  More in the docs
                </Link>
              )
            }
            isFlush
          >
            <List label={label}>
              {items.map(({ href, label: name, hint, excerpt }) => (
                <ListRow
                  key={href}
                  title={
                    <Link prefetch={false} href={href} className="link wrap-anywhere">
                      {name}
                    </Link>
                  }
                  meta={
                    <>
                      {hint}
                      {excerpt && <Excerpt of={excerpt} />}
                    </>
                  }
                />
              ))}
            </List>
          </SectionCard>
        ))}
        {groups.length === 0 && (
          <Card>
            {search === "" ? (
              <EmptyState Icon={Search} title={<h2>Search everything</h2>}>
                Results include only what you can see.
              </EmptyState>
            ) : (
              <EmptyState Icon={SearchX} title={<h2>No results</h2>}>
                Try fewer or other words.
              </EmptyState>
            )}
          </Card>
        )}
      </div>
    </SiteFrame>
  );
}
