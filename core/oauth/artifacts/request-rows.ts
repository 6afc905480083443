import { AsyncLocalStorage } from "node:async_hooks";
import type { TokenAccount, TokenOrganization } from "#core/accounts/tokens/account.ts";
import type { DecidedExchange } from "../exchange/exchange-store.ts";

/** The account of an OAuth token. */
export type AccountRow = TokenAccount & {
  /** Where this token may act: granted organizations of which the user is a member and which allow the app. Absent if not read. */
  organizations?: TokenOrganization[];
  /** The organization for which the token was exchanged, and the only one in which it acts. */
  boundOrgId?: string | null;
};

/**
 * Rows that one request has already read. The engine asks for a token, its Grant and its account one after the other. The adapter reads all
 * three in one statement and keeps Grant and account here, so that three calls cost one round trip. (Each process caches clients itself.)
 * The rows live as long as the request and are never shared between requests.
 */
export type RequestRows = {
  grants: Map<string, Record<string, unknown>>;
  accounts: Map<string, AccountRow>;
  /** Grants that this request has already revoked: the engine asks once for each kind of artifact. */
  revokedGrants: Set<string>;
  /** The data to be stored with an exchanged token, while the engine saves that token (`saveExchangedToken`). */
  exchange?: DecidedExchange;
};

const storage = new AsyncLocalStorage<RequestRows>();

const empty = (): RequestRows => ({ grants: new Map(), accounts: new Map(), revokedGrants: new Set() });

/** Runs one request with its own rows. */
export function withRequestRows<T>(run: () => T): T {
  return storage.run(empty(), run);
}

/** The rows of the current request; outside one (a page that reads an interaction), an empty set that is not kept. */
export function requestRows(): RequestRows {
  return storage.getStore() ?? empty();
}
