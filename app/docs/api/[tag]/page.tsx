import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, findSection } from "#core/docs/reference/api-reference.ts";
import { InlineCode } from "../../../_components/inline-code.tsx";
import { Card, PageHeader } from "../../../_components/page-layout.tsx";
import { DocsFrame } from "../../docs-frame.tsx";
import { MethodAndPath } from "../operation-section.tsx";

type TagPageProps = Readonly<{ params: Promise<{ tag: string }> }>;

export async function generateMetadata({ params }: TagPageProps): Promise<Metadata> {
  const section = findSection(apiDocument(), (await params).tag);
  return section ? { title: `${section.name}: API reference`, description: section.description } : {};
}

export default async function ApiTagPage({ params }: TagPageProps) {
  const { tag } = await params;
  const section = findSection(apiDocument(), tag);
  if (!section) notFound();
  const isEvents = tag === EVENTS_SLUG;
  return (
    <DocsFrame>
      <PageHeader
        title={section.name}
        description={<InlineCode text={section.description} />}
        trail={[
          { href: "/docs", label: "Docs" },
          { href: "/docs/api", label: "API reference" },
        ]}
      />
      <Card className="max-w-discussion">
        <ul className="divide-y divide-line">
          {section.operations.map(({ id, method, path, operation }) => (
            <li key={id} id={id} className="scroll-mt-4 px-4 py-3.5 target:bg-sunken sm:px-5">
              <h2>
                <Link prefetch={false} href={`/docs/api/${tag}/${id}`} className="link">
                  {operation.summary ?? id}
                </Link>
              </h2>
              {isEvents ? <code>{id}</code> : <MethodAndPath method={method} path={path} />}
              {operation.description && (
                <p className="mt-1 max-w-reading text-muted text-small">
                  <InlineCode text={operation.description} />
                </p>
              )}
            </li>
          ))}
        </ul>
      </Card>
    </DocsFrame>
  );
}
