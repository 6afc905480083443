import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { log } from "#core/log.ts";

type Render = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export type RenderedPage = { headers: OutgoingHttpHeaders; body: Buffer };

/** The route at which Next renders app/not-found.tsx completely: elsewhere it leaves that to scripts, and sends an empty page. */
const NOT_FOUND = "/_not-found";

/** Headers about the request's own body, or that ask for something other than the whole page. */
const LEFT_OUT = /^(content-(length|type|encoding)|transfer-encoding|expect|accept-encoding|if-.*|range|upgrade)$/;

/** Renders app/not-found.tsx for the sender of this request. @returns undefined if that fails, which is logged */
export async function renderNotFound(render: Render, asked: IncomingMessage): Promise<RenderedPage | undefined> {
  const req = new IncomingMessage(asked.socket);
  const kept = Object.entries(asked.headers).filter(([name]) => !LEFT_OUT.test(name));
  Object.assign(req, { method: "GET", url: NOT_FOUND, headers: Object.fromEntries(kept), httpVersion: asked.httpVersion });
  req.push(null);
  const res = new CollectedResponse(req);
  try {
    await render(req, res);
    if (res.statusCode === 404 && res.isWhole) return { headers: res.getHeaders(), body: Buffer.concat(res.pieces) };
    log().error({ status: res.statusCode }, "the page for what is not found did not draw");
  } catch (error) {
    log().error({ err: error }, "the page for what is not found did not draw");
  }
  return undefined;
}

/** A response that is collected instead of sent. */
class CollectedResponse extends ServerResponse {
  readonly pieces: Buffer[] = [];
  isWhole = false;

  override writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status;
    const headers = rest.at(-1);
    if (headers && typeof headers === "object" && !Array.isArray(headers)) {
      for (const [name, value] of Object.entries(headers as OutgoingHttpHeaders))
        if (value !== undefined) this.setHeader(name, value);
    }
    return this;
  }

  override flushHeaders(): void {}

  override write(...args: unknown[]): boolean {
    this.#keep(args);
    return true;
  }

  override end(...args: unknown[]): this {
    this.#keep(args);
    this.isWhole = true;
    process.nextTick(() => this.emit("finish"));
    return this;
  }

  #keep(args: unknown[]): void {
    const [piece, encoding] = args;
    if (typeof piece === "string")
      this.pieces.push(Buffer.from(piece, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
    else if (piece instanceof Uint8Array) this.pieces.push(Buffer.from(piece));
    const done = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
    if (done) process.nextTick(done);
  }
}
