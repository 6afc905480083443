import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, findSection } from "#core/docs/reference/api-reference.ts";
import { PageHeader } from "../../../../_components/page-layout.tsx";
import { DocsFrame } from "../../../docs-frame.tsx";
import { OperationSection } from "../../operation-section.tsx";

type OperationPageProps = Readonly<{ params: Promise<{ tag: string; operation: string }> }>;

export async function generateMetadata({ params }: OperationPageProps): Promise<Metadata> {
  const found = await find(params);
  return found ? { title: `${found.entry.operation.summary ?? found.entry.id}: API reference` } : {};
}

export default async function OperationPage({ params }: OperationPageProps) {
  const found = await find(params);
  if (!found) notFound();
  const { document, section, entry } = found;
  return (
    <DocsFrame>
      <PageHeader
        title={entry.operation.summary ?? entry.id}
        trail={[
          { href: "/docs", label: "Docs" },
          { href: "/docs/api", label: "API reference" },
          { href: `/docs/api/${section.slug}`, label: section.name },
        ]}
      />
      <div className="max-w-discussion">
        <OperationSection document={document} entry={entry} isEvent={section.slug === EVENTS_SLUG} />
      </div>
    </DocsFrame>
  );
}

async function find(params: OperationPageProps["params"]) {
  const { tag, operation } = await params;
  const document = apiDocument();
  const section = findSection(document, tag);
  const entry = section?.operations.find(({ id, alike }) => [id, ...alike.map((other) => other.id)].includes(operation));
  return document && section && entry && { document, section, entry };
}
