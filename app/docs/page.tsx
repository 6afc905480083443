import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { fillInProse } from "#core/docs/fill-in.ts";
import { listGuides } from "#core/docs/read-guide.ts";
import { searchDocs } from "#core/docs/search-docs.ts";
import { env } from "#core/env.ts";
import { UrlText } from "../_components/copyable.tsx";
import { Excerpt } from "../_components/excerpt.tsx";
import { EmptyState, List, ListRow } from "../_components/list.tsx";
import { Card, PageHeader, SectionCard } from "../_components/page-layout.tsx";
import { type PageQuery, searchOf } from "../_server/page-query.ts";
import { DocsFrame } from "./docs-frame.tsx";
import { instanceFilling } from "./reader.ts";
import { readReference } from "./sdk/reference/read-reference.ts";

export const metadata: Metadata = { title: "Docs" };

const sdkReference = {
  href: "/docs/sdk/reference",
  label: "SDK reference",
  has: "A question about one function",
  use: "Every function and type of the SDK, from its source",
};
const more = [
  {
    label: "Reference and more",
    entries: [
      {
        href: "/docs/api",
        label: "API reference",
        has: "A question about one request",
        use: "Every operation, from the OpenAPI document",
      },
      sdkReference,
      {
        href: "/docs/badges",
        label: "Badges",
        has: "A place for the button",
        use: "The sign-in button, light and dark, in three sizes",
      },
      {
        href: "/docs/consent",
        label: "What people see",
        has: "People who ask what they are agreeing to",
        use: "The consent page, part by part",
      },
    ],
  },
];

export default async function DocsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const search = searchOf((await searchParams).search);
  return <DocsFrame search={search}>{search.trim() === "" ? <Start /> : <Results search={search} />}</DocsFrame>;
}

async function Results({ search }: Readonly<{ search: string }>) {
  const others = more.flatMap(({ entries }) =>
    entries.map(({ href, label, has, use }) => ({ href, page: label, text: `${has}. ${use}` })),
  );
  const results = await searchDocs(search, instanceFilling(), others);
  return (
    <>
      <PageHeader title={<>Results for “{search}”</>} trail={[{ href: "/docs", label: "Docs" }]} />
      <Card>
        {results.length === 0 ? (
          <EmptyState Icon={SearchX} title={<h2>No results</h2>}>
            Try fewer or other words, or{" "}
            <Link prefetch={false} href="/docs" className="link">
              see all guides
            </Link>
            .
          </EmptyState>
        ) : (
          <List label="Results">
            {results.map(({ href, page, heading, excerpt }) => (
              <ListRow
                key={href}
                title={
                  <Link prefetch={false} href={href} className="link">
                    {heading ?? page}
                  </Link>
                }
                meta={
                  <>
                    {heading && <span className="block">{page}</span>}
                    <Excerpt of={excerpt} />
                  </>
                }
              />
            ))}
          </List>
        )}
      </Card>
    </>
  );
}

async function Start() {
  const { BRAND_NAME, ORIGIN } = env();
  const hasSdkReference = (await readReference("index")) !== undefined;
  const guides = (await listGuides()).map(({ label, guides: all }) => ({
    label,
    entries: all.map((guide) => ({ ...guide, href: `/docs/${guide.slug}` })),
  }));
  return (
    <>
      <PageHeader
        title="Docs"
        description={
          <>
            Sign people in with {BRAND_NAME}, act for them, and get notified of changes. Clients discover everything from{" "}
            <code className="wrap-anywhere">
              <UrlText>{`${ORIGIN}/.well-known/openid-configuration`}</UrlText>
            </code>
            ; any OpenID Connect client works.
          </>
        }
      />
      <div className="grid grid-cols-1 gap-5">
        {[...guides, ...more].map(({ label, entries }) => (
          <SectionCard key={label} title={label} isFlush>
            <p className="hidden gap-x-4 border-line border-b px-4 py-2 text-fine text-muted sm:grid sm:grid-cols-3 sm:px-5">
              <span>You have</span>
              <span className="sm:col-span-2">Use</span>
            </p>
            <ul className="divide-y divide-line">
              {entries
                .filter((entry) => entry !== sdkReference || hasSdkReference)
                .map(({ href, label: name, has, use }) => (
                  <li key={href} className="grid gap-x-4 px-4 py-3 sm:grid-cols-3 sm:px-5">
                    <span className="text-muted text-small">{has}</span>
                    <span className="sm:col-span-2">
                      <Link prefetch={false} href={href} className="link font-medium">
                        {name}
                      </Link>
                      <span className="block text-muted text-small">{fillInProse(use, instanceFilling())}</span>
                    </span>
                  </li>
                ))}
            </ul>
          </SectionCard>
        ))}
      </div>
    </>
  );
}
