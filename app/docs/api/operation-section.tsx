import Link from "next/link";
import type { ReactNode } from "react";
import type { ApiDocument, ApiParameter, ApiResponse, ApiSchema } from "#core/api-document.ts";
import { type ReferenceOperation, splitResponses, typeOfAccess } from "#core/docs/reference/api-reference.ts";
import { curlOf, exampleOf } from "#core/docs/reference/example-of.ts";
import { Chip } from "../../_components/chip.tsx";
import { CodeBlock, UrlText } from "../../_components/copyable.tsx";
import { InlineCode } from "../../_components/inline-code.tsx";
import { FieldLine, SchemaFields, typeOf } from "./schema-fields.tsx";

type OperationSectionProps = Readonly<{ document: ApiDocument; entry: ReferenceOperation; isEvent?: boolean }>;

export function OperationSection({ document, entry, isEvent }: OperationSectionProps) {
  const { id, method, path, operation, alike } = entry;
  const { own, shared } = splitResponses(operation);
  const [body] = Object.entries(operation.requestBody?.content ?? {});
  return (
    <article aria-label={operation.summary ?? id} className="rounded-card border border-line bg-surface">
      <header className="border-line border-b px-4 py-3.5 sm:px-5">
        {isEvent ? <code className="font-semibold">{id}</code> : <MethodAndPath method={method} path={path} />}
        {alike.length > 0 && (
          <details className="mt-1 text-small">
            <summary className="link w-fit text-muted">The same operation at other paths ({alike.length})</summary>
            {alike.map((other) => (
              <MethodAndPath key={other.id} method={other.method} path={other.path} />
            ))}
          </details>
        )}
        {operation.description && (
          <p className="mt-2 max-w-reading">
            <InlineCode text={operation.description} />
          </p>
        )}
        {!isEvent && <Access operation={operation} />}
      </header>
      <div className="grid grid-cols-1 gap-5 px-4 py-5 sm:px-5">
        {operation.parameters && <Parameters document={document} parameters={operation.parameters} />}
        {body && (
          <Part title={isEvent ? "Body" : "Request body"}>
            <Body document={document} mediaType={body[0]} schema={body[1].schema ?? {}} isRequest={!isEvent} />
          </Part>
        )}
        <Part title={isEvent ? "Your response" : "Responses"}>
          <ul className="grid grid-cols-1 gap-3">
            {own.map(([status, response]) => (
              <li key={status}>
                <ResponseRow document={document} status={status} response={response} />
              </li>
            ))}
            {shared.length > 0 && (
              <li className="text-muted text-small">
                Errors:{" "}
                {shared.map((status) => (
                  <span key={status}>
                    <Link prefetch={false} href={`/docs/api#error-${status}`} className="link">
                      {status}
                    </Link>{" "}
                  </span>
                ))}
              </li>
            )}
          </ul>
        </Part>
        {!isEvent && (
          <Part title="Example">
            <CodeBlock code={curlOf(document, entry)} label={`curl command: ${operation.summary}`} />
          </Part>
        )}
      </div>
    </article>
  );
}

export function MethodAndPath({ method, path }: Readonly<{ method: string; path: string }>) {
  return (
    <p className="mt-1 flex flex-wrap items-baseline gap-x-2">
      <code className="font-semibold">{method}</code>
      <code className="wrap-anywhere min-w-0">
        <UrlText>{path}</UrlText>
      </code>
    </p>
  );
}

function Access({ operation }: Readonly<{ operation: ReferenceOperation["operation"] }>) {
  const { sentence, scopes } = typeOfAccess(operation);
  return (
    <p className="mt-2 flex flex-wrap items-center gap-1.5 text-muted text-small">
      {sentence}
      {scopes.map((scope) => (
        <Chip key={scope}>{scope}</Chip>
      ))}
    </p>
  );
}

function Part({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  return (
    <section>
      <h2 className="pb-2 font-medium text-small">{title}</h2>
      {children}
    </section>
  );
}

function Parameters({ document, parameters }: Readonly<{ document: ApiDocument; parameters: ApiParameter[] }>) {
  return (
    <Part title="Parameters">
      <ul className="divide-y divide-line border-line border-y text-small">
        {parameters.map(({ name, in: place, required = false, description = "", schema = {}, example }) => (
          <li key={`${place} ${name}`} className="py-2">
            <FieldLine name={name} type={`${typeOf(document, schema)}, in the ${place}`} isRequired={required} />
            <p className="text-muted">
              <InlineCode text={description} />
              {example !== undefined && (
                <>
                  {" "}
                  For example <code className="wrap-anywhere">{String(example)}</code>.
                </>
              )}
            </p>
            {schema.enum && (
              <p className="text-muted">
                <InlineCode text={`One of ${schema.enum.map((one) => `\`${one}\``).join(", ")}.`} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function ResponseRow({ document, status, response }: Readonly<{ document: ApiDocument; status: string; response: ApiResponse }>) {
  const [content] = Object.entries(response.content ?? {});
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Chip tone={status.startsWith("2") ? "good" : status.startsWith("3") ? "neutral" : "bad"}>{status}</Chip>
        <span className="min-w-0 flex-1">
          <InlineCode text={response.description ?? ""} />
        </span>
      </p>
      {content && (
        <div className="mt-2">
          <Body document={document} mediaType={content[0]} schema={content[1].schema ?? {}} />
        </div>
      )}
    </>
  );
}

type BodyProps = Readonly<{ document: ApiDocument; mediaType: string; schema: ApiSchema; isRequest?: boolean }>;

function Body({ document, mediaType, schema, isRequest = false }: BodyProps) {
  return (
    <>
      <p className="pb-1 text-muted text-small">
        <code>{mediaType}</code>: {typeOf(document, schema)}
      </p>
      <SchemaFields document={document} schema={schema} />
      {mediaType.endsWith("json") && (
        <details className="mt-2">
          <summary className="link w-fit text-muted text-small">Example</summary>
          <div className="mt-2">
            <CodeBlock code={JSON.stringify(exampleOf(document, schema, { isRequest }), null, 2)} label="Example" />
          </div>
        </details>
      )}
    </>
  );
}
