import type { ApiContent, ApiDocument } from "../../api-document.ts";
import type { ReferenceOperation } from "./api-reference.ts";
import { exampleOf } from "./example-of.ts";

/** A request to paste into a shell, with this service's own URL; the token is in the environment. */
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

/** In single quotes only the quote itself is special to a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
