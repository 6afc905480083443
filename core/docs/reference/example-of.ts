import type { ApiContent, ApiDocument, ApiSchema } from "../../api-document.ts";
import { type ReferenceOperation, resolveSchema } from "./api-reference.ts";

/** A schema may refer to itself. */
const DEPTH_MAX = 6;
const ID = "5f9c1e2ab7d04c3e8f6a1b20";

type Options = {
  isRequest?: boolean;
};

export function exampleOf(document: ApiDocument, schema: ApiSchema, { isRequest = false }: Options = {}): unknown {
  return make(schema, "", 0);

  function make(given: ApiSchema, name: string, depth: number): unknown {
    const one = resolveSchema(document, given);
    if (one.example !== undefined) return one.example;
    if (one.const !== undefined) return one.const;
    if (one.enum) return one.enum[0];
    if (one.default !== undefined && one.default !== null) return one.default;
    if (one.allOf) return Object.assign({}, ...one.allOf.map((part) => make(part, name, depth)));
    const [choice] = one.anyOf ?? one.oneOf ?? [];
    if (choice) return make(choice, name, depth);
    return plain(one, name, depth);
  }

  function plain(one: ApiSchema, name: string, depth: number): unknown {
    const [type] = [one.type ?? (one.properties ? "object" : "string")].flat();
    switch (type) {
      case "object":
        return depth < DEPTH_MAX ? objectOf(one, depth) : {};
      case "array":
        return one.items && one.maxItems !== 0 && depth < DEPTH_MAX ? [make(one.items, singular(name), depth + 1)] : [];
      case "integer":
      case "number":
        return Math.max(one.minimum ?? 0, names[name] === undefined ? 1 : Number(names[name]) || 1);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return text(one, name);
    }
  }

  function objectOf({ properties = {}, required = [] }: ApiSchema, depth: number): Record<string, unknown> {
    const wanted = Object.entries(properties).filter(([key]) => !isRequest || required.includes(key) || usual.has(key));
    return Object.fromEntries(wanted.map(([key, value]) => [key, make(value, key, depth + 1)]));
  }
}

const usual = new Set(["url", "dockerImage", "command", "organization", "secret"]);

const singular = (name: string): string => name.replace(/s$/, "");

function text({ format, pattern }: ApiSchema, name: string): string {
  if (pattern?.includes("\\/")) return "ada/tide-tables";
  const known = names[name];
  if (known !== undefined) return known;
  if (format === "date-time" || /(At|^date|^from|^to|since|until)$/.test(name)) return "2026-11-22T09:30:00.000Z";
  if (format === "uri" || /url$/i.test(name)) return "https://app.example.com/";
  if (pattern?.includes("{64}")) return "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9";
  if (pattern?.includes("{40}") || /sha$|oid$/i.test(name)) return "9fceb02d0ae598e95dc970b74767f19372d6156d";
  if (pattern?.includes("{24}") || /id$/i.test(name)) return ID;
  return "…";
}

const names: Record<string, string> = {
  name: "ada/tide-tables",
  organization: "river-lab",
  fromRepo: "ada/tide-tables",
  toRepo: "river-lab/tide-tables",
  author: "ada",
  username: "ada",
  user: "ada",
  fullname: "Ada Lovelace",
  email: "ada@example.com",
  title: "Correct the March tables",
  message: "Correct the March tables",
  summary: "Correct the March tables",
  description: "Tides at twelve ports",
  comment: "Looks right to me.",
  content: "Looks right to me.",
  reaction: "👍",
  note: "Where to start",
  path: "data/march.csv",
  paths: "data/march.csv",
  tag: "v1.0",
  ref: "refs/heads/main",
  url: "https://app.example.com/webhooks/tides",
  dockerImage: "python:3.13",
  command: "python",
  flavor: "cpu-basic",
  schedule: "@daily",
  timezone: "Europe/Paris",
  secret: "correct-horse-battery-staple",
  key: "TIDE_STATION",
  value: "brest",
  status: "open",
  scope: "read-repos",
  error: "Repository not found",
  code: "not_found",
  timeoutSeconds: "1800",
  num: "12",
  size: "1024",
};

export function curlOf(document: ApiDocument, { method, path, operation }: ReferenceOperation): string {
  const { parameters = [], security = [], requestBody } = operation;
  const filled = parameters
    .filter((one) => one.in === "path")
    .reduce((address, one) => address.replace(`{${one.name}}`, inPath(one.name, String(one.example ?? one.name))), path);
  const query = parameters
    .filter((one) => one.in === "query" && one.required)
    .map((one) => `${encodeURIComponent(one.name)}=${encodeURIComponent(String(one.example ?? ""))}`)
    .join("&");
  const address = `${document.servers[0]?.url ?? ""}${filled}${query && `?${query}`}`;
  const isOptional = security.some((one) => Object.keys(one).length === 0);
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(address)}`];
  if (security.some((one) => "bearer" in one) && !isOptional) lines.push('-H "Authorization: Bearer $KEYHOOK_TOKEN"');
  if (security.some((one) => "clientBasic" in one)) lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"');
  if (requestBody) lines.push(...bodyLines(document, requestBody.content));
  if (Object.values(operation.responses).some(({ content }) => content?.["text/event-stream"])) lines.push("-N");
  return lines.join(" \\\n  ");
}

const inPath = (name: string, value: string): string =>
  name === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);

function bodyLines(document: ApiDocument, content: ApiContent): string[] {
  const [mediaType = "", { schema = {} } = {}] = Object.entries(content)[0] ?? [];
  const example = exampleOf(document, schema, { isRequest: true });
  if (mediaType === "application/x-www-form-urlencoded") {
    return Object.entries(example as object).map(([name, value]) => `-d ${quoted(`${name}=${value}`)}`);
  }
  const body = typeof example === "string" ? example : JSON.stringify(example);
  return [`-H "Content-Type: ${mediaType}"`, `-d ${quoted(body)}`];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
