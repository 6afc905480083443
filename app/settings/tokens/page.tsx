import { KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { listPersonalAccessTokens } from "#core/accounts/tokens/list-personal-access-tokens.ts";
import { listDelegated } from "#core/webhooks/delegated.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { GitHelp } from "./git-help.tsx";
import { TokenRow } from "./token-row.tsx";

export const metadata: Metadata = { title: "Access tokens" };

export default async function TokensPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession("/settings/tokens");
  const person = personActor(session);
  const { notice } = await searchParams;
  const tokens = await listPersonalAccessTokens(person, person.userId);
  const delegated = await listDelegated(tokens.map(({ id }) => id));
  const create = (
    <ButtonLink variant="primary" href="/settings/tokens/new">
      New token
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Access tokens"
        description="Passwords for your own programs: git, the command line, scripts. Each can do only what you allow it."
        actions={tokens.length > 0 && create}
      />
      {textOf(notice) === "revoked" && (
        <FormMessage tone="good" className="mb-5">
          The token is revoked. What still uses it is refused from now on.
        </FormMessage>
      )}
      <div className="mb-5">
        <GitHelp username={session.user.username} />
      </div>
      <Card>
        {tokens.length === 0 ? (
          <EmptyState Icon={KeyRound} title="No tokens yet" action={create}>
            Make one to push with git or to call the API from a script, without giving your password away.
          </EmptyState>
        ) : (
          <List label="Access tokens">
            {tokens.map((token) => (
              <TokenRow key={token.id} token={token} delegated={delegated.get(token.id)} />
            ))}
          </List>
        )}
      </Card>
    </>
  );
}
