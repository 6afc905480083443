import { ArrowLeft, ArrowRight } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { fillInProse, mentionsApp } from "#core/docs/fill-in.ts";
import type { Guide } from "#core/docs/guides.ts";
import { listGuides, readGuide, renderCachedGuide } from "#core/docs/read-guide.ts";
import { buttonClass } from "../../_components/button.tsx";
import { Select } from "../../_components/fields.client.tsx";
import { PageHeader } from "../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { DocsFrame } from "../docs-frame.tsx";
import { GuideTree } from "../guide-tree.tsx";
import { OnThisPage } from "../on-this-page.tsx";
import { findReader, instanceFilling, type Reader } from "../reader.ts";

type GuidePageProps = Readonly<{ params: Promise<{ slug: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: GuidePageProps): Promise<Metadata> {
  const guide = await readGuide((await params).slug);
  return guide ? { title: guide.label, description: fillInProse(guide.use, instanceFilling()) } : {};
}

export default async function GuidePage({ params, searchParams }: GuidePageProps) {
  const guide = await readGuide((await params).slug);
  if (!guide) notFound();
  const isAboutApps = mentionsApp(guide.markdown);
  const reader = isAboutApps ? await findReader(textOf((await searchParams).app)) : undefined;
  const { title, tree, headings } = renderCachedGuide(guide, reader?.filling ?? instanceFilling());
  return (
    <DocsFrame>
      <PageHeader title={title} trail={[{ href: "/docs", label: "Docs" }]} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-5 xl:grid-cols-(--columns-guide)">
        {headings.length > 1 && (
          <div className="min-w-0 xl:order-2 xl:h-full">
            <OnThisPage headings={headings} />
          </div>
        )}
        <article className="min-w-0 max-w-discussion">
          {reader && <FilledWith reader={reader} slug={guide.slug} />}
          <GuideTree tree={tree} />
          <Neighbors slug={guide.slug} />
        </article>
      </div>
    </DocsFrame>
  );
}

async function Neighbors({ slug }: Readonly<{ slug: string }>) {
  const all = (await listGuides()).flatMap(({ guides }) => guides);
  const at = all.findIndex((guide) => guide.slug === slug);
  return (
    <nav aria-label="Next and previous guide" className="mt-8 flex flex-wrap justify-between gap-3 border-line border-t pt-5">
      <Neighbor guide={all[at - 1]} way="previous" />
      <Neighbor guide={all[at + 1]} way="next" />
    </nav>
  );
}

function Neighbor({ guide, way }: Readonly<{ guide: Guide | undefined; way: "previous" | "next" }>) {
  if (!guide) return <span />;
  const isNext = way === "next";
  return (
    <Link
      prefetch={false}
      href={`/docs/${guide.slug}`}
      rel={isNext ? "next" : "prev"}
      className="link inline-flex items-center gap-2"
    >
      {!isNext && <ArrowLeft className="size-4" aria-hidden="true" />}
      <span>
        <span className="sr-only">{isNext ? "Next: " : "Previous: "}</span>
        {guide.label}
      </span>
      {isNext && <ArrowRight className="size-4" aria-hidden="true" />}
    </Link>
  );
}

type FilledWithProps = Readonly<{ reader: Reader; slug: string }>;

function FilledWith({ reader: { app, apps, isSignedIn, filling }, slug }: FilledWithProps) {
  return (
    <aside aria-label="Values in the examples" className="mb-5 rounded-card border border-line bg-surface px-4 py-3 text-small">
      {app ? (
        <>
          <p>
            The examples contain the URL of this service, and the client ID {filling.app?.redirectUri && "and redirect URI "}of
            your app{" "}
            <Link prefetch={false} href={`/settings/applications/${app.id}`} className="link">
              {app.name}
            </Link>
            . They never contain a secret: those that need one read it from <code>CLIENT_SECRET</code>. A secret is shown only
            once, when it is created on the app&rsquo;s page.
          </p>
          {apps.length > 1 && (
            <form action={`/docs/${slug}`} className="mt-3 flex flex-wrap items-end gap-3">
              <div className="min-w-0 flex-1 basis-56">
                <Select
                  name="app"
                  label="Use another app's values"
                  defaultValue={app.id}
                  options={apps.map(({ id, name }) => ({ value: id, label: name }))}
                />
              </div>
              <button type="submit" className={buttonClass({})}>
                Fill in
              </button>
            </form>
          )}
        </>
      ) : (
        <p>
          The examples contain the URL of this service, <code className="break-all">{filling.origin}</code>.{" "}
          <Link prefetch={false} href={isSignedIn ? "/settings/applications/new" : `/login?next=/docs/${slug}`} className="link">
            {isSignedIn ? "Create an app" : "Sign in"}
          </Link>
          , and they will also contain {isSignedIn ? "its" : "your app’s"} client ID and redirect URI.
        </p>
      )}
    </aside>
  );
}
