import { pool } from "#core/db.ts";
import { hostnameOf } from "./document-address.ts";
import { DOCUMENT_POLICY_KEY, documentPolicyOf } from "./hosts/document-policy.ts";
import { namesCovering } from "./hosts/host-name.ts";
import { type HostRule, type HostStanding, standingOf } from "./hosts/judge-host.ts";
import type { DocumentMetadata } from "./read-document.ts";

/** A document as it was last fetched. */
export type StoredDocument = {
  clientId: string;
  metadata: DocumentMetadata;
  logoId: string | null;
  logoFetchedAt: Date | null;
  etag: string | null;
  /** By the database's clock, which is the same for every process. */
  isFresh: boolean;
  /** How long it has been stale. */
  staleSeconds: number;
  /** Whether its `last_seen_at` must be updated. */
  isSeenLongAgo: boolean;
};

/** `last_seen_at` is for the operator and for housekeeping, for which the hour is precise enough. */
const SEEN_INTERVAL = "interval '1 hour'";

const FIND = `SELECT (SELECT value FROM setting WHERE key = $3) AS policy,
    (SELECT coalesce(json_agg(json_build_object('host', host, 'rule', rule)), '[]') FROM oauth_client_host WHERE host = ANY ($2))
      AS rules,
    d.client_id AS "clientId", d.metadata, d.logo_id AS "logoId", d.logo_fetched_at AS "logoFetchedAt", d.etag,
    d.fresh_until > now() AS "isFresh", extract(epoch FROM now() - d.fresh_until)::float8 AS "staleSeconds",
    d.last_seen_at < now() - ${SEEN_INTERVAL} AS "isSeenLongAgo"
  FROM (SELECT $1::text AS asked) a LEFT JOIN oauth_client_document d ON d.client_id = a.asked`;

type Row = StoredDocument & { policy: unknown; rules: HostRule[] };

/** The stored document of a client ID, and the operator's rules for its host, in one statement. */
export async function findStoredDocument(
  clientId: string,
): Promise<{ document: StoredDocument | undefined; standing: HostStanding }> {
  const hostname = hostnameOf(clientId);
  const values = [clientId, namesCovering(hostname), DOCUMENT_POLICY_KEY];
  const { rows } = await pool().query<Row>({ name: "client-document-find", text: FIND, values });
  const { policy, rules, ...document } = rows[0] as Row;
  const standing = standingOf(hostname, rules, documentPolicyOf(policy));
  return { document: document.clientId === null ? undefined : document, standing };
}
