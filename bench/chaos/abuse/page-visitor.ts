import { request } from "node:http";
import { text } from "node:stream/consumers";

const SESSION_COOKIE = /^(__Host-)?session(-\d+)?$/;

export class PageVisitor {
  readonly #origin: URL;
  readonly #localAddress: string;
  readonly #cookies = new Map<string, string>();

  constructor(origin: URL, localAddress: string) {
    this.#origin = origin;
    this.#localAddress = localAddress;
  }

  async signIn(login: string, password: string, signal: AbortSignal): Promise<number> {
    for (const name of this.#cookies.keys()) if (SESSION_COOKIE.test(name)) this.#cookies.delete(name);
    const page = await this.#send("GET", "/login", signal);
    if (page.status !== 200) return page.status;
    const form = new FormData();
    for (const [name, value] of fieldsOf(page.html, "password")) form.append(name, value);
    form.set("login", login);
    form.set("password", password);
    return (await this.#send("POST", "/login", signal, form)).status;
  }

  async #send(method: string, path: string, signal: AbortSignal, form?: FormData): Promise<{ status: number; html: string }> {
    const encoded = form && new Response(form);
    const body = encoded && Buffer.from(await encoded.arrayBuffer());
    return new Promise((resolve, reject) => {
      const req = request({
        ...{ method, path, signal, host: "127.0.0.1", port: this.#origin.port, localAddress: this.#localAddress },
        headers: {
          host: this.#origin.host,
          accept: "text/html",
          cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; "),
          ...(encoded && body && { "content-type": encoded.headers.get("content-type") ?? "", "content-length": body.length }),
        },
      });
      req.once("error", reject);
      req.once("response", (res) => {
        for (const line of res.headers["set-cookie"] ?? []) {
          const [pair = ""] = line.split("; ");
          this.#cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
        }
        text(res).then((html) => resolve({ status: res.statusCode ?? 0, html }), reject);
      });
      req.end(body);
    });
  }
}

export function fieldsOf(html: string, has: string): [string, string][] {
  const form = html.split("<form").find((part) => part.split("</form>")[0]?.includes(`name="${has}"`)) ?? "";
  const hidden = form.split("</form>")[0]?.matchAll(/<input type="hidden" ([^>]*)>/g) ?? [];
  return [...hidden].map(([, attributes = ""]) => [attribute(attributes, "name"), attribute(attributes, "value")]);
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
