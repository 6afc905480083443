import { ArrowLeft, ArrowRight } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { fillInProse, namesAnApp } from "#core/docs/fill-in.ts";
import type { Guide } from "#core/docs/guides.ts";
import { layOutGuide, listGuides, readGuide } from "#core/docs/read-guide.ts";
import { PageHeader } from "../../_components/page-header.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { DocsFrame } from "../docs-frame.tsx";
import { FilledWith } from "../filled-with.tsx";
import { GuideTree } from "../guide-tree.tsx";
import { OnThisPage } from "../on-this-page.tsx";
import { findReader, instanceFilling } from "../reader.ts";

type GuidePageProps = Readonly<{ params: Promise<{ slug: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: GuidePageProps): Promise<Metadata> {
  const guide = await readGuide((await params).slug);
  return guide ? { title: guide.label, description: fillInProse(guide.use, instanceFilling()) } : {};
}

/** A guide: `docs/guides/*.md` and its like, filled in for whoever reads it. */
export default async function GuidePage({ params, searchParams }: GuidePageProps) {
  const guide = await readGuide((await params).slug);
  if (!guide) notFound();
  const isAboutApps = namesAnApp(guide.markdown);
  const reader = isAboutApps ? await findReader(textOf((await searchParams).app)) : undefined;
  const { title, tree, headings } = layOutGuide(guide, reader?.filling ?? instanceFilling());
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
          <Neighbours slug={guide.slug} />
        </article>
      </div>
    </DocsFrame>
  );
}

async function Neighbours({ slug }: Readonly<{ slug: string }>) {
  const all = (await listGuides()).flatMap(({ guides }) => guides);
  const at = all.findIndex((guide) => guide.slug === slug);
  return (
    <nav aria-label="Next and previous guide" className="mt-8 flex flex-wrap justify-between gap-3 border-line border-t pt-5">
      <Neighbour guide={all[at - 1]} way="previous" />
      <Neighbour guide={all[at + 1]} way="next" />
    </nav>
  );
}

function Neighbour({ guide, way }: Readonly<{ guide: Guide | undefined; way: "previous" | "next" }>) {
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
