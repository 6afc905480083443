import { notFound } from "next/navigation";
import { renderCachedGuide } from "#core/docs/read-guide.ts";
import { PageHeader, type PageHeaderProps } from "../../../_components/page-layout.tsx";
import { DocsFrame } from "../../docs-frame.tsx";
import { GuideTree } from "../../guide-tree.tsx";
import { OnThisPage } from "../../on-this-page.tsx";
import { instanceFilling } from "../../reader.ts";
import { readReference } from "./read-reference.ts";

type ReferencePageProps = Readonly<{
  names: readonly string[];
  trail: NonNullable<PageHeaderProps["trail"]>;
}>;

export async function ReferencePage({ names, trail }: ReferencePageProps) {
  const page = await readReference(...names);
  if (!page) notFound();
  const { title, tree, headings } = renderCachedGuide(page, instanceFilling());
  return (
    <DocsFrame>
      <PageHeader title={title} trail={[{ href: "/docs", label: "Docs" }, { href: "/docs/sdk", label: "SDK" }, ...trail]} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-5 xl:grid-cols-(--columns-guide)">
        {headings.length > 1 && (
          <div className="min-w-0 xl:order-2 xl:h-full">
            <OnThisPage headings={headings} />
          </div>
        )}
        <article className="reference min-w-0 max-w-discussion">
          <GuideTree tree={tree} />
        </article>
      </div>
    </DocsFrame>
  );
}
