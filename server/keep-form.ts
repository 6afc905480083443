import type { IncomingMessage } from "node:http";
import type { TypedField } from "./failure-page.ts";

const MAX_BYTES = 64 * 1024;
const MAX_CHARACTERS = 5_000;

/** Fields that nobody types, or that must not be shown again: React's own, a page's hidden ones, and secrets. */
const NOT_TYPED = /^\$ACTION|password|secret|token|jwks|id$|^(next|page|returnTo|account|app|host|isOn)$/i;

/**
 * Keeps a copy of this request's form while another reader reads it, up to 64 KiB.
 * @returns a function that reads it, once the request is complete: the texts that a user filled in, none if it is not a form.
 */
export function keepForm(req: IncomingMessage): () => Promise<TypedField[]> {
  const contentType = req.headers["content-type"] ?? "";
  if (req.method !== "POST" || !/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType)) {
    return async () => [];
  }
  let chunks: Uint8Array[] | undefined = [];
  let received = 0;
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array && chunks) {
      received += chunk.length;
      if (received > MAX_BYTES) chunks = undefined;
      else chunks.push(chunk);
    }
    return push.call(req, chunk, encoding);
  };
  return () => readForm(chunks ?? [], contentType);
}

async function readForm(chunks: Uint8Array[], contentType: string): Promise<TypedField[]> {
  try {
    const form = await new Response(Buffer.concat(chunks), { headers: { "content-type": contentType } }).formData();
    return [...form].flatMap(([name, value]) =>
      typeof value === "string" && value.trim() !== "" && !NOT_TYPED.test(name)
        ? [{ name, value: value.slice(0, MAX_CHARACTERS) }]
        : [],
    );
  } catch {
    return [];
  }
}
