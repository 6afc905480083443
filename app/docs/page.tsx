import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { fillInProse } from "#core/docs/fill-in.ts";
import { listGuides } from "#core/docs/read-guide.ts";
import { env } from "#core/env.ts";
import { Card } from "../_components/card.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { SearchForm } from "../_components/search-form.tsx";
import { SectionCard } from "../_components/section-card.tsx";
import { type PageQuery, searchOf } from "../_server/page-query.ts";
import { DocsFrame } from "./docs-frame.tsx";
import { instanceFilling } from "./reader.ts";

export const metadata: Metadata = { title: "Docs" };

const more = [
  {
    label: "Beside the guides",
    entries: [
      {
        href: "/docs/api",
        label: "API reference",
        has: "A question about one request",
        use: "Every operation, from the OpenAPI document",
      },
      {
        href: "/docs/badges",
        label: "Badges",
        has: "A place for the button",
        use: "“Sign in with Keyhook”, light and dark, in three sizes",
      },
      {
        href: "/docs/consent",
        label: "What people see",
        has: "People who ask what they agree to",
        use: "The permissions modal, part by part",
      },
    ],
  },
];

/** The start of the documentation: what one has, and which guide goes with it. */
export default async function DocsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const search = searchOf((await searchParams).search);
  const { BRAND_NAME, ORIGIN } = env();
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const guides = (await listGuides()).map(({ label, guides: all }) => ({
    label,
    entries: all.map((guide) => ({ ...guide, href: `/docs/${guide.slug}` })),
  }));
  const sections = [...guides, ...more]
    .map(({ label, entries }) => ({
      label,
      entries: entries
        .map((entry) => ({ ...entry, use: fillInProse(entry.use, instanceFilling()) }))
        .filter((entry) => {
          const text = `${label} ${entry.label} ${entry.has} ${entry.use}`.toLowerCase();
          return words.every((word) => text.includes(word));
        }),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <DocsFrame>
      <PageHeader
        title="Docs"
        description={`Sign people in with ${BRAND_NAME}, act for them, and hear what changes. Everything is found from ${ORIGIN}/.well-known/openid-configuration, and any OpenID Connect client works.`}
      />
      <div className="grid grid-cols-1 gap-5">
        <SearchForm action="/docs" label="What do you have?" value={search} />
        {sections.length === 0 && (
          <Card>
            <EmptyState Icon={SearchX} title={<h2>No guide has these words</h2>}>
              Try one word, or{" "}
              <Link prefetch={false} href="/docs" className="link">
                see all guides
              </Link>
              .
            </EmptyState>
          </Card>
        )}
        {sections.map(({ label, entries }) => (
          <SectionCard key={label} title={label} isFlush>
            <ul className="divide-y divide-line">
              {entries.map(({ href, label: name, has, use }) => (
                <li key={href} className="grid gap-x-4 px-4 py-3 sm:grid-cols-3 sm:px-5">
                  <span className="text-muted text-small">{has}</span>
                  <span className="sm:col-span-2">
                    <Link prefetch={false} href={href} className="link font-medium">
                      {name}
                    </Link>
                    <span className="block text-muted text-small">{use}</span>
                  </span>
                </li>
              ))}
            </ul>
          </SectionCard>
        ))}
      </div>
    </DocsFrame>
  );
}
