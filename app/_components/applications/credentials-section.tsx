import Link from "next/link";
import { hasKeys } from "#core/oauth/apps/change-app.ts";
import type { AppDetails, AppSecretDescription } from "#core/oauth/apps/get-app.ts";
import { deleteSecretAction, issueSecretAction } from "../../_server/applications/actions.ts";
import { Chip } from "../chip.tsx";
import { CopyField } from "../copyable.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { SectionCard } from "../page-layout.tsx";
import { LastUsed, RelativeTime } from "../relative-time.tsx";
import { SecretForm } from "./secret-form.client.tsx";
import { DeleteKeys } from "./security-section.tsx";

type CredentialsSectionProps = Readonly<{
  details: AppDetails;
  /** Whether the user authenticated within the last 15 minutes (S113). */
  isRecent: boolean;
  page: string;
}>;

export function CredentialsSection({
  details: { app, secrets, isConfidential, isOwner, mayManageAccess, boundOrganization },
  isRecent,
  page,
}: CredentialsSectionProps) {
  return (
    <SectionCard title="Credentials">
      <div className="grid gap-5">
        <div className="max-w-reading">
          <CopyField label="Client ID" value={app.clientId} />
        </div>
        <div className="grid gap-2">
          <h3 className="font-medium">Client secret</h3>
          {hasKeys(app) ? (
            <p className="max-w-reading text-muted text-small">
              None: the app authenticates with its keys
              {isOwner && (
                <>
                  , which are under{" "}
                  <Link prefetch={false} href={`${page}?tab=security#keys`} className="link">
                    Security
                  </Link>
                </>
              )}
              .
            </p>
          ) : !isConfidential ? (
            <p className="max-w-reading text-muted text-small">
              None: this is a public app, protected by PKCE.{mayManageAccess && " Add a secret if it runs on your own server."}
            </p>
          ) : (
            <SecretLines secrets={secrets} />
          )}
        </div>
        {!mayManageAccess ? (
          <p className="max-w-reading text-muted text-small">
            {boundOrganization
              ? `Only administrators of ${boundOrganization.fullName} can change these credentials, because the app is bound to that organization for token exchange.`
              : "Only the app's owner can change these credentials."}
          </p>
        ) : !isRecent ? null : hasKeys(app) ? (
          // An administrator who manages only the bound organization has no page for the keys, but may delete them.
          !isOwner && <DeleteKeys app={app} />
        ) : (
          <div className="flex flex-wrap items-start gap-2">
            <SecretForm action={issueSecretAction.bind(null, app.id)} hasSecret={secrets.length > 0} />
            {secrets.length > 0 && (
              <ConfirmDestructive
                action={deleteSecretAction.bind(null, app.id)}
                trigger="Delete secret"
                title={`Delete the secret of ${app.name}?`}
                confirm="Delete the secret"
              >
                The app can no longer authenticate with it. {app.name} becomes a public app that uses PKCE.
              </ConfirmDestructive>
            )}
          </div>
        )}
      </div>
    </SectionCard>
  );
}

function SecretLines({ secrets }: Readonly<{ secrets: readonly AppSecretDescription[] }>) {
  return (
    <ul className="grid gap-2">
      {secrets.map((secret) => (
        <li key={secret.createdAt.toISOString()} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small">
          <code>
            <span aria-hidden="true">••••••••</span>
            <span className="sr-only">ends in </span>
            {secret.last4}
          </code>
          {secret.expiresAt && (
            <Chip tone="warn">
              <span>
                expires <RelativeTime at={secret.expiresAt} />
              </span>
            </Chip>
          )}
          <span className="text-muted">
            created <RelativeTime at={secret.createdAt} /> · <LastUsed at={secret.lastUsedAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}
