import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { type ApiDocument, apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, eventOperations, type ReferenceSection, sectionsOf } from "#core/docs/reference/api-reference.ts";
import { PageHeader } from "../../../_components/page-header.tsx";
import { DocsFrame } from "../../docs-frame.tsx";
import { OnThisPage } from "../../on-this-page.tsx";
import { OperationSection } from "../operation-section.tsx";

type TagPageProps = Readonly<{ params: Promise<{ tag: string }> }>;

export async function generateMetadata({ params }: TagPageProps): Promise<Metadata> {
  const found = find(apiDocument(), (await params).tag);
  return found ? { title: `${found.section.name}: API reference`, description: found.section.description } : {};
}

/** The operations of one noun, or what receivers of webhooks get: rendered here, from the document, with nothing to load. */
export default async function ApiTagPage({ params }: TagPageProps) {
  const { tag } = await params;
  const found = find(apiDocument(), tag);
  if (!found) notFound();
  const { document, section } = found;
  const headings = section.operations.map(({ id, operation }) => ({ id, text: operation.summary ?? id, level: 2 as const }));
  return (
    <DocsFrame>
      <PageHeader
        title={section.name}
        description={section.description}
        trail={[
          { href: "/docs", label: "Docs" },
          { href: "/docs/api", label: "API reference" },
        ]}
      />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-5 xl:grid-cols-(--columns-guide)">
        {headings.length > 1 && (
          <div className="min-w-0 xl:order-2 xl:h-full">
            <OnThisPage headings={headings} />
          </div>
        )}
        <div className="grid min-w-0 max-w-discussion grid-cols-1 gap-5">
          {section.operations.map((entry) => (
            <OperationSection key={entry.id} document={document} entry={entry} isEvent={tag === EVENTS_SLUG} />
          ))}
        </div>
      </div>
    </DocsFrame>
  );
}

function find(document: ApiDocument | undefined, tag: string): { document: ApiDocument; section: ReferenceSection } | undefined {
  if (!document) return undefined;
  const section = tag === EVENTS_SLUG ? eventsSection(document) : sectionsOf(document).find(({ slug }) => slug === tag);
  return section && { document, section };
}

const eventsSection = (document: ApiDocument): ReferenceSection => ({
  slug: EVENTS_SLUG,
  name: "Webhook events",
  description:
    "What a receiver gets at each kind of event, as a POST with a JSON body. Answer any status of 200 to 299 within 15 seconds, or it is tried again.",
  operations: eventOperations(document),
});
