import { ChevronDown, KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { Fragment } from "react";
import { personActor } from "#core/access/actor.ts";
import { type ListedPersonalAccessToken, listPersonalAccessTokens } from "#core/accounts/tokens/personal-access-tokens.ts";
import { env } from "#core/env.ts";
import { type Delegated, listDelegated } from "#core/webhooks/delegated.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { CodeBlock } from "../../_components/copyable.tsx";
import { DelegatedList } from "../../_components/delegated-list.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { LastUsed, RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { revokeTokenAction } from "../actions.ts";

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
    <ListPage
      title="Access tokens"
      description="Passwords for your own programs, such as git, the command line and scripts. Each can do only what you allow."
      actions={tokens.length > 0 && create}
      notice={noticeOf({ revoked: "Token revoked. Programs that use it have lost access." }, notice)}
      label="Access tokens"
      list={tokens}
      row={(token) => <TokenRow key={token.id} token={token} delegated={delegated.get(token.id)} />}
      empty={
        <EmptyState Icon={KeyRound} title="No tokens yet" action={create}>
          Create one to push with git or call the API from a script without sharing your password.
        </EmptyState>
      }
    >
      <GitHelp username={session.user.username} />
    </ListPage>
  );
}

/** URLs end up in logs and shell histories, so the token must be the password. */
function GitHelp({ username }: Readonly<{ username: string }>) {
  const { ORIGIN } = env();
  return (
    <details className="group rounded-card border border-line bg-surface px-4 py-3 sm:px-5">
      <summary className="flex items-center justify-between gap-2 font-medium">
        How to use a token with git
        <ChevronDown className="size-4 shrink-0 text-muted group-open:rotate-180" aria-hidden="true" />
      </summary>
      <div className="mt-3 grid max-w-reading gap-3 text-small">
        <p>
          Your username is <code>{username}</code>, and the password is the token. It needs <code>read-repos</code> to clone
          private repositories, and <code>write-repos</code> to push.
        </p>
        <p>
          To enter it only once, let git store it. <code>store</code> keeps it in a file, unencrypted; the others keep it where
          your system keeps passwords:
        </p>
        <CodeBlock label="commands to store the token" code={credentialCommands(ORIGIN, username)} />
        <p className="text-muted">
          Do not put the token into the URL of a repository: it would stay in the repository's configuration and your shell's
          history.
        </p>
      </div>
    </details>
  );
}

const credentialCommands = (origin: string, username: string): string =>
  [
    `git config --global credential.${origin}.username ${username}`,
    "git config --global credential.helper store   # or: osxkeychain, manager, libsecret",
  ].join("\n");

function TokenRow({ token, delegated }: Readonly<{ token: ListedPersonalAccessToken; delegated: Delegated | undefined }>) {
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
          ·{" "}
          {token.scopes.map((scope, index) => (
            <Fragment key={scope}>
              {index > 0 && ", "}
              <span className="whitespace-nowrap">{scope}</span>
            </Fragment>
          ))}
          <span className="block first-letter:uppercase">
            <LastUsed at={token.lastUsedAt} /> · created <RelativeTime at={token.createdAt} /> · <Expiry token={token} />
          </span>
        </>
      }
      actions={
        <ConfirmDestructive
          action={revokeTokenAction.bind(null, token.id)}
          trigger="Revoke"
          title={`Revoke ${token.name}?`}
          confirm={`Revoke ${token.name}`}
          size="small"
        >
          Programs that use this token lose access immediately.
          <DelegatedList delegated={delegated} of="token" />
        </ConfirmDestructive>
      }
    />
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
