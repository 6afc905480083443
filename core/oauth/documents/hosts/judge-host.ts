import { pool } from "#core/db.ts";
import { DOCUMENT_POLICY_KEY, type DocumentPolicy, documentPolicyOf } from "./document-policy.ts";
import { namesCovering } from "./host-name.ts";

export type HostRule = { host: string; rule: "allow" | "block" };

/** What the operator's rules say about a host of metadata documents (S87). */
export type HostStanding = {
  isAllowed: boolean;
  /** The rule that decides, possibly one for a parent domain; null if only the policy decides. */
  rule: HostRule | null;
  policy: DocumentPolicy;
};

/** The most specific rule overrides those for its parents, and any rule overrides the policy, except "off". */
export function standingOf(hostname: string, rules: readonly HostRule[], policy: DocumentPolicy): HostStanding {
  const rule = namesCovering(hostname)
    .map((name) => rules.find(({ host }) => host === name))
    .find((each) => each !== undefined);
  const isAllowed = policy !== "off" && (rule ? rule.rule === "allow" : policy === "open");
  return { isAllowed, rule: rule ?? null, policy };
}

const FIND = `SELECT (SELECT value FROM setting WHERE key = $2) AS policy,
  (SELECT coalesce(json_agg(json_build_object('host', host, 'rule', rule)), '[]') FROM oauth_client_host WHERE host = ANY ($1))
    AS rules`;

/** The same, from the database. */
export async function judgeHost(hostname: string): Promise<HostStanding> {
  const { rows } = await pool().query<{ policy: unknown; rules: HostRule[] }>({
    name: "client-host-judge",
    text: FIND,
    values: [namesCovering(hostname), DOCUMENT_POLICY_KEY],
  });
  return standingOf(hostname, rows[0]?.rules ?? [], documentPolicyOf(rows[0]?.policy));
}
