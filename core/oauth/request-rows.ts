import { AsyncLocalStorage } from "node:async_hooks";
import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import type { DecidedExchange } from "./exchange/save-exchange.ts";

/**
 * Rows that one request has read already. The engine asks for a token, its client, its Grant and its account one after the
 * other; the adapter reads them in one statement and leaves the others here, so that a request costs one round trip where
 * the engine makes four calls. It lives as long as the request and is never shared between requests.
 */
export type AccountRow = {
  id: string;
  username: string;
  fullName: string;
  email: string;
  isEmailVerified: boolean;
  website: string | null;
  /** Organizations this token may act in: granted ∩ current memberships that let the app in. Absent when not read with the account. */
  organizations?: GrantedOrganization[];
  /** The organization that the token was exchanged for, and the only one it acts in. */
  boundOrgId?: string | null;
};

export type GrantedOrganization = {
  id: string;
  name: string;
  fullName: string;
  plan: string | null;
  role: OrganizationRole;
  /** What the organization asks of the member that they have not met: until then its resources are closed to them. */
  restrictions: SecurityRestriction[];
};

export type RequestRows = {
  grants: Map<string, Record<string, unknown>>;
  accounts: Map<string, AccountRow>;
  /** Grants already marked as revoked by this request: the engine asks once for every kind of artifact. */
  revokedGrants: Set<string>;
  /** A token exchange that was decided: what is stored together with its access token. */
  exchange?: DecidedExchange;
};

const storage = new AsyncLocalStorage<RequestRows>();

const empty = (): RequestRows => ({ grants: new Map(), accounts: new Map(), revokedGrants: new Set() });

/** Runs one request with rows of its own. */
export function withRequestRows<T>(run: () => T): T {
  return storage.run(empty(), run);
}

/** The rows of the request in progress; outside one (a page that reads an interaction) a throw-away set. */
export function requestRows(): RequestRows {
  return storage.getStore() ?? empty();
}
