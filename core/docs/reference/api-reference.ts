import type { ApiDocument, ApiOperation, ApiResponse, ApiSchema } from "../../api-document.ts";

export type ReferenceOperation = {
  id: string;
  method: string;
  path: string;
  operation: ApiOperation;
  alike: { id: string; method: string; path: string }[];
};

type ReferenceSection = { slug: string; name: string; description: string; operations: ReferenceOperation[] };

export const EVENTS_SLUG = "events";

const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-");

const made = new WeakMap<ApiDocument, ReferenceSection[]>();

export function sectionsOf(document: ApiDocument): ReferenceSection[] {
  const known = made.get(document);
  if (known) return known;
  const sections = document.tags.map(({ name, description = "" }) => ({
    ...{ slug: slugOf(name), name, description },
    operations: grouped(document, name),
  }));
  made.set(document, sections);
  return sections;
}

function grouped({ paths }: ApiDocument, tag: string): ReferenceOperation[] {
  const groups = new Map<string, ReferenceOperation>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.tags?.[0] !== tag) continue;
      const one = { id: operation.operationId ?? `${method}-${slugOf(path)}`, method: method.toUpperCase(), path };
      const key = `${method} ${generalized(path)}`;
      const first = groups.get(key);
      if (first) first.alike.push(one);
      else groups.set(key, { ...one, operation, alike: [] });
    }
  }
  return [...groups.values()];
}

const generalized = (path: string): string =>
  path
    .replace(/^\/api\/organizations\/\{name\}\/settings\/(webhooks|apps)/, "/api/settings/$1")
    .replace(/^\/api\/(models|datasets|spaces)(?=\/\{owner\}\/\{name\}|$)/, "/api/{type}")
    .replace(/^\/(datasets|spaces)(?=\/\{owner\}\/\{name\}\/(resolve|raw))/, "");

export function findSection(document: ApiDocument | undefined, slug: string): ReferenceSection | undefined {
  return document && [...sectionsOf(document), eventsSection(document)].find((section) => section.slug === slug);
}

export function eventsSection(document: ApiDocument): ReferenceSection {
  return {
    slug: EVENTS_SLUG,
    name: "Webhook events",
    description:
      "The payload of each kind of event, which a receiver gets as a POST with a JSON body. Respond with 2xx within 15 seconds; otherwise the service retries.",
    operations: eventOperations(document),
  };
}

export function eventOperations({ webhooks }: ApiDocument): ReferenceOperation[] {
  return Object.entries(webhooks).flatMap(([kind, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...{ id: kind, method: method.toUpperCase(), path: kind, operation, alike: [] },
    })),
  );
}

export function schemaNameOf({ $ref }: ApiSchema): string | undefined {
  return $ref?.split("/").at(-1);
}

export function resolveSchema(document: ApiDocument, schema: ApiSchema): ApiSchema {
  const name = schemaNameOf(schema);
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

export function resolveResponse(document: ApiDocument, response: ApiResponse): ApiResponse {
  const name = response.$ref?.split("/").at(-1);
  return name === undefined ? response : (document.components.responses[name] ?? {});
}

export function splitResponses({ responses }: ApiOperation) {
  const all = Object.entries(responses);
  return { own: all.filter(([, { $ref }]) => !$ref), shared: all.flatMap(([status, { $ref }]) => ($ref ? [status] : [])) };
}

export function typeOfAccess({ security = [], "x-scopes": scopes = [] }: ApiOperation): { sentence: string; scopes: string[] } {
  if (security.length === 0) return { sentence: "No token required.", scopes };
  const isOptional = security.some((one) => Object.keys(one).length === 0);
  if (security.some((one) => "clientBasic" in one)) {
    return { sentence: isOptional ? "Client credentials, if the app has a secret." : "Client credentials.", scopes };
  }
  const list = scopes.length === 0 ? "" : scopes.length === 1 ? " with the scope" : " with one of the scopes";
  return { sentence: isOptional ? `Public. For more access, use a token${list || "."}` : `A token${list || "."}`, scopes };
}
