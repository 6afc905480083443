import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { type ApiDocument, apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, resolveResponse, sectionsOf } from "#core/docs/reference/api-reference.ts";
import { env } from "#core/env.ts";
import { buttonClass } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { CodeBlock, CopyField } from "../../_components/copyable.tsx";
import { InlineCode } from "../../_components/inline-code.tsx";
import { PageHeader, SectionCard } from "../../_components/page-layout.tsx";
import { DocsFrame } from "../docs-frame.tsx";

export const metadata: Metadata = { title: "API reference" };

export default async function ApiReferencePage() {
  const document = apiDocument();
  if (!document) notFound();
  const { ORIGIN, BRAND_NAME } = env();
  const sections = sectionsOf(document);
  return (
    <DocsFrame>
      <div className="max-w-discussion">
        <PageHeader
          title="API reference"
          description={`Every API operation of ${BRAND_NAME}, from the service's own OpenAPI document.`}
          trail={[{ href: "/docs", label: "Docs" }]}
          actions={
            <a href="/api/openapi.json" download="openapi.json" className={buttonClass({ size: "small" })}>
              Download openapi.json
            </a>
          }
        />
        <div className="grid grid-cols-1 gap-5">
          <SectionCard title="Authentication">
            <div className="grid grid-cols-1 gap-4">
              <CopyField label="Base URL" value={ORIGIN} />
              <p>
                Send a token as <code>Authorization: Bearer …</code>: a{" "}
                <Link prefetch={false} href="/settings/tokens" className="link">
                  personal access token
                </Link>
                , or one that an app got when a user signed in. Each operation lists its scopes; the token needs one of them.
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
                <span className="block text-muted text-small">What a receiver gets for each kind of event.</span>
              </li>
            </ul>
          </SectionCard>
          <SectionCard
            title="Errors"
            description="The body has a message for people and a code for programs. OAuth endpoints use the error format of RFC 6749 §5.2."
          >
            <ErrorList document={document} />
          </SectionCard>
          <SectionCard
            title="Your own client"
            description="The document is OpenAPI 3.1, which generators for many languages can read. For JavaScript and TypeScript, use @keyhook/sdk."
          >
            <div className="grid grid-cols-1 gap-4">
              <CodeBlock label="install the client for JavaScript" code={`npm install ${ORIGIN}/downloads/keyhook-sdk.tgz`} />
              <CodeBlock
                label="types for TypeScript"
                code={`npx openapi-typescript ${ORIGIN}/api/openapi.json -o keyhook.d.ts`}
              />
              <CodeBlock
                label="a client in another language"
                code={`npx @openapitools/openapi-generator-cli generate -i ${ORIGIN}/api/openapi.json -g python -o keyhook-client`}
              />
            </div>
          </SectionCard>
        </div>
      </div>
    </DocsFrame>
  );
}

function ErrorList({ document }: Readonly<{ document: ApiDocument }>) {
  const refs = new Map(
    Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ responses }) => Object.entries(responses))
      .filter(([, { $ref }]) => $ref),
  );
  const all = [...refs].sort(([one], [other]) => Number(one) - Number(other));
  const [, notFound] = all.find(([status]) => status === "404") ?? [];
  const example = notFound && resolveResponse(document, notFound).content?.["application/json"]?.example;
  return (
    <div className="grid grid-cols-1 gap-4">
      <CodeBlock label="body of an error" code={JSON.stringify(example, null, 2)} />
      <ul className="divide-y divide-line">
        {all.map(([status, response]) => (
          <li key={status} id={`error-${status}`} className="flex scroll-mt-4 items-baseline gap-3 py-2 target:bg-sunken">
            <Chip tone="bad">{status}</Chip>
            <span className="wrap-anywhere min-w-0 flex-1">
              <InlineCode text={resolveResponse(document, response).description ?? ""} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
