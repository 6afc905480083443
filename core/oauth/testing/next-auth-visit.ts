type Handler = (request: object, answer: object) => Promise<unknown>;

/**
 * @param host the site's host, with its port
 * @param visit what the browser does between leaving the site and returning
 * @returns the session at the site
 */
export async function signInByNextAuth(
  handler: Handler,
  host: string,
  visit: (url: string) => Promise<URL>,
  provider = "keyhook",
) {
  const cookies: Record<string, string> = {};
  async function ask(path: string, { query = {}, ...request }: { query?: object; method?: string; body?: object } = {}) {
    const answer = new ApiAnswer(cookies);
    await handler(
      { method: "GET", headers: { host }, cookies, query: { ...query, nextauth: path.split("/") }, ...request },
      answer,
    );
    return answer;
  }
  const { csrfToken } = (await ask("csrf")).body as { csrfToken: string };
  const leaving = await ask(`signin/${provider}`, { method: "POST", body: { csrfToken } });
  const landed = await visit(leaving.headers.location ?? "");
  await ask(`callback/${provider}`, { query: Object.fromEntries(landed.searchParams) });
  return (await ask("session")).body;
}

class ApiAnswer {
  readonly headers: Record<string, string> = {};
  body: unknown;
  readonly #cookies: Record<string, string>;

  constructor(cookies: Record<string, string>) {
    this.#cookies = cookies;
  }

  status(): this {
    return this;
  }

  getHeader(): undefined {
    return undefined;
  }

  setHeader(name: string, value: string | string[]): this {
    if (name.toLowerCase() !== "set-cookie") this.headers[name.toLowerCase()] = String(value);
    for (const cookie of name.toLowerCase() === "set-cookie" ? [value].flat() : []) {
      const [, key = "", content = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies[key] = decodeURIComponent(content);
    }
    return this;
  }

  json(body: unknown): void {
    this.body = body;
  }

  send(body: unknown): void {
    this.body = body;
  }

  end(): void {}
}
