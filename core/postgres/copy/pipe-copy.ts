import type { Socket } from "node:net";
import type pg from "pg";

/** What of pg's connection its types do not tell: COPY is part of the protocol, and not of the client's own queries. */
type Connection = {
  stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
};

const connectionOf = (client: pg.Client): Connection => (client as unknown as { connection: Connection }).connection;

type Handlers = { data?(chunk: Buffer): void; input?(): void; end(): void; error(error: Error): void };

/** The handlers that pg calls for a statement of ours. */
class CopyStatement {
  readonly #text: string;
  readonly #on: Handlers;
  #hasFailed = false;

  constructor(text: string, on: Handlers) {
    this.#text = text;
    this.#on = on;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(): void {
    this.#on.input?.();
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#on.data?.(chunk);
  }

  handleError(error: Error): void {
    this.#hasFailed = true;
    this.#on.error(error);
  }

  handleReadyForQuery(): void {
    if (!this.#hasFailed) this.#on.end();
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/**
 * Runs `COPY … TO STDOUT` on one server and feeds what it says to `COPY … FROM STDIN` on another, as fast as the slower of the two
 * goes. After an error neither connection can be used any more: one of them is still in the middle of its statement.
 */
export async function pipeCopy(
  { client: source, text: out }: { client: pg.Client; text: string },
  { client: target, text: into }: { client: pg.Client; text: string },
): Promise<void> {
  const [from, to] = [connectionOf(source), connectionOf(target)];
  const resume = () => void from.stream.resume();
  to.stream.on("drain", resume);
  try {
    await new Promise<void>((resolve, reject) => {
      const reading = new CopyStatement(out, {
        data(chunk) {
          to.sendCopyFromChunk(chunk);
          if (to.stream.writableNeedDrain) from.stream.pause();
        },
        end: () => to.endCopyFrom(),
        error: reject,
      });
      const writing = new CopyStatement(into, {
        input: () => void source.query(reading as unknown as pg.Submittable),
        end: resolve,
        error: reject,
      });
      target.query(writing as unknown as pg.Submittable);
    });
  } catch (error) {
    from.stream.destroy();
    to.stream.destroy();
    throw error;
  } finally {
    to.stream.off("drain", resume);
  }
}
