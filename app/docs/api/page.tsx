import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, sectionsOf } from "#core/docs/reference/api-reference.ts";
import { env } from "#core/env.ts";
import { buttonClass } from "../../_components/button.tsx";
import { CodeBlock } from "../../_components/code-block.tsx";
import { CopyField } from "../../_components/copy-field.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { DocsFrame } from "../docs-frame.tsx";
import { ErrorList } from "./error-list.tsx";

export const metadata: Metadata = { title: "API reference" };

/** The start of the reference: where the API is, how one is let in, what errors look like, and every operation by its noun. */
export default async function ApiReferencePage() {
  const document = apiDocument();
  if (!document) notFound();
  const { ORIGIN, BRAND_NAME } = env();
  const sections = sectionsOf(document);
  return (
    <DocsFrame>
      <PageHeader
        title="API reference"
        description={`Every operation of ${BRAND_NAME} for programs, from the OpenAPI document that the service itself answers with.`}
        trail={[{ href: "/docs", label: "Docs" }]}
        actions={
          <a href="/api/openapi.json" download="openapi.json" className={buttonClass({ size: "small" })}>
            Download openapi.json
          </a>
        }
      />
      <div className="grid max-w-discussion grid-cols-1 gap-5">
        <SectionCard title="Where, and with what">
          <div className="grid grid-cols-1 gap-4">
            <CopyField label="Base URL" value={ORIGIN} />
            <p>
              Send a token as <code>Authorization: Bearer …</code>: a{" "}
              <Link prefetch={false} href="/settings/tokens" className="link">
                personal access token
              </Link>
              , or one that an app got by signing somebody in. Each operation names the scopes of which the token needs one.
            </p>
            <CodeBlock
              label="first request"
              code={`export KEYHOOK_TOKEN=…\ncurl -H "Authorization: Bearer $KEYHOOK_TOKEN" ${ORIGIN}/api/whoami-v2`}
            />
          </div>
        </SectionCard>
        <SectionCard title="Operations" isFlush>
          <ul className="divide-y divide-line">
            {sections.map(({ slug, name, description, operations }) => (
              <li key={slug} className="px-4 py-3 sm:px-5">
                <Link prefetch={false} href={`/docs/api/${slug}`} className="link font-medium">
                  {name}
                </Link>{" "}
                <span className="text-muted text-small">{operations.length}</span>
                <span className="block text-muted text-small">{description}</span>
              </li>
            ))}
            <li className="px-4 py-3 sm:px-5">
              <Link prefetch={false} href={`/docs/api/${EVENTS_SLUG}`} className="link font-medium">
                Webhook events
              </Link>{" "}
              <span className="text-muted text-small">{Object.keys(document.webhooks).length}</span>
              <span className="block text-muted text-small">What a receiver gets at each kind of event.</span>
            </li>
          </ul>
        </SectionCard>
        <SectionCard
          title="Errors"
          description="The body says what is wrong in a sentence, and in a word for programs. At addresses of OAuth it is the body of RFC 6749 §5.2."
        >
          <ErrorList document={document} />
        </SectionCard>
        <SectionCard
          title="A client of your own"
          description="The document is OpenAPI 3.1; generators for many languages read it. For JavaScript and TypeScript there is @keyhook/sdk already."
        >
          <div className="grid grid-cols-1 gap-4">
            <CodeBlock label="install the client for JavaScript" code={`npm install ${ORIGIN}/downloads/keyhook-sdk.tgz`} />
            <CodeBlock label="types for TypeScript" code={`npx openapi-typescript ${ORIGIN}/api/openapi.json -o keyhook.d.ts`} />
            <CodeBlock
              label="a client in another language"
              code={`npx @openapitools/openapi-generator-cli generate -i ${ORIGIN}/api/openapi.json -g python -o keyhook-client`}
            />
          </div>
        </SectionCard>
      </div>
    </DocsFrame>
  );
}
