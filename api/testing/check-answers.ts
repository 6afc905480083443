import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { ApiDocument, ApiOperation, ApiResponse, ApiSchema } from "#core/api-document.ts";
import { api } from "../app.ts";
import { openApiDocument } from "../openapi/document.ts";

/** Each response must match the OpenAPI document, which must describe every field of the body. */

/** `seen`: each successful response as `operationId status`. */
export type Checked = { seen: Set<string>; problems: string[] };

type Route = { pattern: RegExp; literals: number; operations: Record<string, ApiOperation> };

export function answerChecker() {
  const { document, routes, validatorOf } = described();
  const checked: Checked = { seen: new Set(), problems: [] };

  async function check(request: Request, response: Response): Promise<void> {
    const { pathname } = new URL(request.url);
    const method = request.method === "HEAD" ? "get" : request.method.toLowerCase();
    const route = routes.find(({ pattern, operations }) => pattern.test(pathname) && operations[method]);
    const operation = route?.operations[method];
    if (!operation) {
      // Outside `/api/` are other protocols. The document omits URLs that refuse every request.
      if (pathname.startsWith("/api/") && method !== "options" && response.status < 400) {
        checked.problems.push(`${request.method} ${pathname} answers ${response.status}, and is not in the document`);
      }
      return;
    }
    const problem = await problemOf(operation, request, response).catch((error: unknown) => String(error));
    if (problem) checked.problems.push(`${operation.operationId} (${request.method} ${pathname}) ${response.status}: ${problem}`);
    else if (response.status < 400) checked.seen.add(`${operation.operationId} ${response.status}`);
  }

  async function problemOf(operation: ApiOperation, request: Request, response: Response): Promise<string | undefined> {
    const described = resolve(document, operation.responses[response.status]);
    if (!described) return `the document describes only the statuses ${Object.keys(operation.responses).join(", ")}`;
    const cacheControl = response.headers.get("cache-control") ?? "";
    if (request.headers.has("authorization") && !/no-store|private|no-cache|public/.test(cacheControl)) {
      return `Cache-Control is "${cacheControl}", so a proxy may give this response to callers with other tokens`;
    }
    if (!described.content || request.method === "HEAD" || response.status === 304) return undefined;
    const mediaType = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    const schema = described.content[mediaType]?.schema;
    if (mediaType === "application/json" && schema) {
      const body: unknown = await response.clone().json();
      const validate = validatorOf(schema);
      if (validate(body)) return undefined;
      const [error] = validate.errors ?? [];
      const extra = error?.params.additionalProperty ? ` (${error.params.additionalProperty})` : "";
      return `${error?.instancePath || "the body"} ${error?.message}${extra}: ${JSON.stringify(body).slice(0, 300)}`;
    }
    // In the document, `application/octet-stream` stands for a file with its own media type.
    return schema || described.content["application/octet-stream"] ? undefined : `${mediaType || "no type"} is not described`;
  }

  return { check, checked };
}

type Described = { document: ApiDocument; routes: Route[]; validatorOf: ReturnType<typeof validators> };

/** A worker's test files share one document and its compiled schemas, because the documents would differ only in ORIGIN. */
function described(): Described {
  const worker = globalThis as { apiDescribedForWorker?: Described };
  if (!worker.apiDescribedForWorker) {
    const { document } = openApiDocument(api);
    worker.apiDescribedForWorker = { document, routes: routesOf(document), validatorOf: validators(document) };
  }
  return worker.apiDescribedForWorker;
}

function resolve(document: ApiDocument, response: ApiResponse | undefined): ApiResponse | undefined {
  return response?.$ref ? document.components.responses[response.$ref.split("/").at(-1) ?? ""] : response;
}

/** Returns the most specific route first: `/api/jobs/hardware` before `/api/jobs/{namespace}`. */
function routesOf({ paths }: ApiDocument): Route[] {
  return Object.entries(paths)
    .map(([path, operations]) => ({
      // Revisions and paths may contain unencoded slashes, and a path may be empty.
      pattern: new RegExp(
        `^${path
          .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
          .replace(/\/\{path\}$/, "(/.*)?")
          .replace(/\{(rev|range)\}(?=$|\(|\/)/g, ".+")
          .replace(/\{\w+\}/g, "[^/]+")}$`,
      ),
      literals: path.split("/").filter((segment) => !segment.startsWith("{")).length,
      operations,
    }))
    .sort((one, other) => other.literals - one.literals);
}

function validators(document: ApiDocument): (schema: ApiSchema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: ID, components: { schemas: closed(document.components.schemas) } });
  const compiled = new Map<ApiSchema, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema) ?? ajv.compile(closed(schema) as object);
    compiled.set(schema, known);
    return known;
  };
}

const ID = "https://hub.example.com/openapi.json";

/** Rejects undescribed fields, because readers of the document would not know them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const result = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === "$ref" ? ID + one : closed(one)]));
  if ("properties" in result && result.type === "object" && !("additionalProperties" in result))
    result.additionalProperties = false;
  return result;
}
