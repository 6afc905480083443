import pg from "pg";
import { requestContext } from "../log.ts";
import { fairQueue, type Release } from "./fair-queue.ts";

/** A single page sends a dozen statements. */
const WAITING_MAX = 256;
/** One site's server signs many people in, and visitors without an account read most pages. */
const ANONYMOUS_SHARE = 0.75;

/** One caller's slow statements leave connections for others (S137, decision 072). Work outside of requests takes no slot. */
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

  /** Clients may try again after this error, as with a pool without a free connection. */
  async #takeSlot(): Promise<Release> {
    try {
      return await this.#queue.take({ isKept: true });
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
