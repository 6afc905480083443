import Link from "next/link";
import type { RecentExchange } from "#core/oauth/exchange/list-recent-exchanges.ts";
import { Chip } from "../chip.tsx";
import { List, ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";

export type RecentExchangesProps = Readonly<{
  exchanges: readonly RecentExchange[] /** The path of the whole log. */;
  auditLog: string;
}>;

/** The last few, each in a line; the audit log has all of them. */
export function RecentExchanges({ exchanges, auditLog }: RecentExchangesProps) {
  if (exchanges.length === 0) return <p className="text-muted text-small">None yet. What the app exchanges stands here.</p>;
  return (
    <>
      <div className="rounded-control border border-line">
        <List label="Last exchanges">
          {exchanges.map(({ id, at, isRefused, subject, scopes, reason, ip }) => (
            <ListRow
              key={id}
              title={
                <>
                  <bdi className="wrap-anywhere min-w-0">{subject || "(no address)"}</bdi>
                  {isRefused && <Chip tone="bad">Refused</Chip>}
                </>
              }
              meta={
                <>
                  {isRefused ? (reasons[reason ?? ""] ?? "refused") : scopes.join(" ")}
                  {ip && ` · from ${ip}`}
                </>
              }
              trailing={
                <span className="text-muted text-small">
                  <RelativeTime at={at} />
                </span>
              }
            />
          ))}
        </List>
      </div>
      <p className="text-small">
        <Link prefetch={false} href={auditLog} className="link">
          All of them, in the audit log
        </Link>
      </p>
    </>
  );
}

/** Why an exchange was refused, for administrators of the organization; the program itself is told less (S91). */
const reasons: Record<string, string> = {
  not_authenticated_by_basic: "the secret was not sent by HTTP Basic",
  no_privilege: "the app lacks the privilege token-exchange",
  no_plan: "the organization lacks the Enterprise plan",
  blocked_by_organization: "the organization has blocked the app",
  malformed_request: "the request was not right; its answer says what was wrong",
  invalid_actor: "the actor token was not valid",
  not_a_member: "no member has this address",
  email_not_verified: "the member has not verified this address",
  user_disabled: "the member's account is disabled",
  requirements_not_met: "the member has not met what the organization asks, such as a second step",
  unknown_target: "the token was to be good elsewhere",
  invalid_scope: "a scope was asked for that the app does not have",
  invalid_dpop_proof: "the proof of possession (DPoP) was missing or not right",
};
