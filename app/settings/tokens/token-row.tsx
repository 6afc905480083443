import type { ListedPersonalAccessToken } from "#core/accounts/tokens/list-personal-access-tokens.ts";
import { env } from "#core/env.ts";
import type { Delegated } from "#core/webhooks/delegated.ts";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { DelegatedList } from "../../_components/delegated-list.tsx";
import { ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { revokeTokenAction } from "./actions.ts";

/** One token: what it is called, what it may do, when it was used, and how to end it. */
export function TokenRow({ token, delegated }: Readonly<{ token: ListedPersonalAccessToken; delegated: Delegated | undefined }>) {
  return (
    <ListRow
      title={
        <>
          {token.name}
          {token.isExpired && <Chip tone="warn">Expired</Chip>}
        </>
      }
      meta={
        <>
          <code>
            {env().TOKEN_PREFIX}…{token.last4}
          </code>{" "}
          · {token.scopes.join(", ")}
          <br />
          {token.lastUsedAt ? (
            <>
              last used <RelativeTime at={token.lastUsedAt} />
            </>
          ) : (
            "never used"
          )}{" "}
          · made <RelativeTime at={token.createdAt} /> · <Expiry token={token} />
        </>
      }
    >
      <div className="mt-2">
        <ConfirmDestructive
          action={revokeTokenAction.bind(null, token.id)}
          trigger="Revoke"
          title={`Revoke ${token.name}?`}
          confirm={`Revoke ${token.name}`}
          size="small"
        >
          Programs that use this token are refused at once.
          <DelegatedList delegated={delegated} of="token" />
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function Expiry({ token: { expiresAt, isExpired } }: Readonly<{ token: ListedPersonalAccessToken }>) {
  if (!expiresAt) return "does not expire";
  return (
    <>
      {isExpired ? "expired" : "expires"} <RelativeTime at={expiresAt} />
    </>
  );
}
