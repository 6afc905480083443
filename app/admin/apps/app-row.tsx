import { BadgeCheck } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import type { OwnedApp } from "#core/oauth/apps/list-all-apps.ts";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/privilege.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { countOfUsers } from "../../_components/applications/app-list.tsx";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { blockAction, privilegeAction, unblockAction, verifyAction } from "./actions.ts";

export type AppRowProps = Readonly<{ app: OwnedApp; isRecent: boolean; returnTo: string }>;

export function AppRow({ app, isRecent, returnTo }: AppRowProps) {
  return (
    <ListRow
      leading={<AppLogo app={app} />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{app.name}</bdi>
          {app.isFirstParty && <Chip>Comes with {env().BRAND_NAME}</Chip>}
          {app.registrationTokenHash !== null && <Chip>Registered itself</Chip>}
          {app.verifiedAt && (
            <Chip tone="good">
              <BadgeCheck className="size-3.5" aria-hidden="true" />
              Verified
            </Chip>
          )}
          {app.blockedAt && <Chip tone="bad">Blocked</Chip>}
          {app.privileges.includes(TOKEN_EXCHANGE) && <Chip tone="warn">Exchanges tokens</Chip>}
          {app.privilegeRequestedAt && <Chip tone="warn">Asks for token exchange</Chip>}
        </>
      }
      meta={
        <>
          <code className="block break-all">{app.clientId}</code>
          {app.owner && (
            <>
              <Link prefetch={false} href={`/${app.owner.handle}`} className="link">
                {app.owner.handle}
              </Link>
              {" · "}
            </>
          )}
          {app.boundTo && (
            <>
              bound to{" "}
              <Link prefetch={false} href={`/${app.boundTo}`} className="link">
                {app.boundTo}
              </Link>
              {" · "}
            </>
          )}
          made <RelativeTime at={app.createdAt} />
          {app.privilegeRequestedAt && (
            <>
              {" · asked for token exchange "}
              <RelativeTime at={app.privilegeRequestedAt} />
            </>
          )}
          {app.blockedAt && (
            <>
              {" · blocked "}
              <RelativeTime at={app.blockedAt} />
            </>
          )}
        </>
      }
      trailing={
        <>
          <span className="text-muted text-small">{countOfUsers(app.userCount)}</span>
          {isRecent && <Trust app={app} returnTo={returnTo} />}
        </>
      }
    >
      {isRecent && !app.blockedAt && (
        <div className="mt-3 flex flex-wrap items-start gap-2 sm:ml-11">
          <Privilege app={app} returnTo={returnTo} />
          <Block app={app} returnTo={returnTo} />
        </div>
      )}
    </ListRow>
  );
}

type ActProps = Omit<AppRowProps, "isRecent">;

/** What lets people trust the app more: the mark, or the end of a block. What comes with the service needs no mark. */
function Trust({ app: { id, name, isFirstParty, verifiedAt, blockedAt }, returnTo }: ActProps) {
  if (isFirstParty && !blockedAt) return null;
  const [action, label] = blockedAt
    ? [unblockAction.bind(null, id), "Unblock"]
    : [verifyAction.bind(null, id, !verifiedAt), verifiedAt ? "Take the mark away" : "Mark as verified"];
  return (
    <ActionForm action={action} className="grid gap-2">
      <input type="hidden" name="returnTo" value={returnTo} />
      <SubmitButton size="small" variant="secondary">
        {label}
        <span className="sr-only"> {name}</span>
      </SubmitButton>
    </ActionForm>
  );
}

/** It lets whoever holds the app's secret act for every member of the organization, so both ways ask first. */
function Privilege({ app: { id, name, boundTo, privileges }, returnTo }: ActProps) {
  if (!boundTo) return null;
  const isGranted = privileges.includes(TOKEN_EXCHANGE);
  return (
    <ConfirmDestructive
      action={privilegeAction.bind(null, id, !isGranted)}
      trigger={isGranted ? "End token exchange" : "Allow token exchange"}
      title={
        <>
          {isGranted ? "End token exchange of" : "Allow token exchange to"} <bdi>{name}</bdi>?
        </>
      }
      confirm={isGranted ? `End it for ${name}` : `Allow ${name}`}
      size="small"
    >
      <input type="hidden" name="returnTo" value={returnTo} />
      {isGranted
        ? `It gets no more tokens for members of ${boundTo}, and those that it has end at once.`
        : `With its secret, it gets tokens for any member of ${boundTo} by their e-mail address, without asking them. The tokens act within ${boundTo} only, and every exchange is in its audit log.`}
    </ConfirmDestructive>
  );
}

function Block({ app: { id, name, userCount }, returnTo }: ActProps) {
  return (
    <ConfirmDestructive
      action={blockAction.bind(null, id)}
      trigger="Block"
      title={
        <>
          Block <bdi>{name}</bdi>?
        </>
      }
      confirm={`Block ${name}`}
      size="small"
    >
      <input type="hidden" name="returnTo" value={returnTo} />
      Nobody can sign in to it any more{endedFor(userCount)}. Its owner sees that it is blocked. Once unblocked, it has to ask
      everybody anew.
    </ConfirmDestructive>
  );
}

function endedFor(people: number): string {
  if (people === 0) return "";
  return `, and the access that ${people === 1 ? "1 person has" : `${people.toLocaleString("en")} people have`} given it ends at once`;
}
