import pg from "pg";
import { requestContext } from "../log.ts";
import { fairQueue, type Release } from "./fair-queue.ts";

const WAITING_MAX = 256;
/** The share is large, because one site's server signs many people in, and most pages have visitors without an account. */
const ANONYMOUS_SHARE = 0.75;

/** A caller with slow statements leaves connections for others (S137, decision 072). */
export class SharedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Parameters<pg.Pool["connect"]>[0]): void;
  // The pool's own `query` uses the callback.
  override connect(callback?: Parameters<pg.Pool["connect"]>[0]): Promise<pg.PoolClient> | undefined {
    const client = this.#connect();
    if (!callback) return client;
    client.then(
      (one) => callback(undefined, one, one.release),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  async #connect(): Promise<pg.PoolClient> {
    if (!requestContext.getStore()) return super.connect();
    const slot = await this.#takeSlot();
    try {
      const client = await super.connect();
      const { release } = client;
      client.release = (...problem) => {
        release.apply(client, problem);
        slot();
      };
      return client;
    } catch (error) {
      slot();
      throw error;
    }
  }

  /** The error is like that of a full pool, after which clients may try again. */
  async #takeSlot(): Promise<Release> {
    try {
      return await this.#queue.take({ outlivesRequest: true });
    } catch (cause) {
      throw new Error("timeout exceeded when trying to connect", { cause });
    }
  }

  get #queue() {
    const { max: slots = 10, connectionTimeoutMillis: waitMaxMs = 0 } = this.options;
    const name = "database_connections";
    return fairQueue({ name, slots, anonymousShare: ANONYMOUS_SHARE, waitMaxMs, waitingMax: WAITING_MAX });
  }

  get isAwaited(): boolean {
    return this.waitingCount > 0 || this.#queue.counts.waiting > 0;
  }
}
