type Cookie = { name: string; value: string; path: string };

export class Browser {
  readonly #origin: string;
  #cookies: Cookie[] = [];

  constructor(origin: string) {
    this.#origin = origin;
  }

  setCookie(name: string, value: string, path = "/"): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    this.#cookies.push({ name, value, path });
  }

  forgetCookies(name: string): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name);
  }

  cookieHeader(url: string): string {
    const { pathname } = new URL(url, this.#origin);
    return this.#cookies
      .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(new URL(url, this.#origin), {
      ...init,
      redirect: "manual",
      headers: { accept: "text/html", ...init.headers, cookie: this.cookieHeader(url) },
    });
    for (const header of response.headers.getSetCookie()) this.#store(header);
    return response;
  }

  #store(header: string): void {
    const [pair = "", ...attributes] = header.split("; ");
    const at = pair.indexOf("=");
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? "/";
    const isExpired = attributes.some((each) => /^expires=Thu, 01 Jan 1970/i.test(each) || /^max-age=0$/i.test(each));
    const name = pair.slice(0, at);
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    if (!isExpired) this.#cookies.push({ name, value: pair.slice(at + 1), path });
  }
}
