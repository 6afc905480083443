import { AsyncLocalStorage } from "node:async_hooks";
import type { TokenAccount, TokenOrganization } from "#core/accounts/tokens/account.ts";
import type { DecidedExchange } from "../exchange/exchange-store.ts";

export type AccountRow = TokenAccount & {
  organizations?: TokenOrganization[];
  /** The only organization in which an exchanged token acts. */
  boundOrgId?: string | null;
};

/** The adapter reads a token, its Grant and its account in one statement. Requests never share rows. */
export type RequestRows = {
  grants: Map<string, Record<string, unknown>>;
  accounts: Map<string, AccountRow>;
  /** The engine would revoke a Grant once for each kind of artifact. */
  revokedGrants: Set<string>;
  exchange?: DecidedExchange;
};

const storage = new AsyncLocalStorage<RequestRows>();

const empty = (): RequestRows => ({ grants: new Map(), accounts: new Map(), revokedGrants: new Set() });

export function withRequestRows<T>(run: () => T): T {
  return storage.run(empty(), run);
}

export function requestRows(): RequestRows {
  return storage.getStore() ?? empty();
}
