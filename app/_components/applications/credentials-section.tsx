import type { AppDetails, AppSecretDescription } from "#core/oauth/apps/get-app.ts";
import { hasKeys } from "#core/oauth/apps/has-keys.ts";
import { deleteSecretAction, issueSecretAction } from "../../_server/applications/actions.ts";
import { Chip } from "../chip.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { CopyField } from "../copy-field.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { SectionCard } from "../section-card.tsx";
import { SecretForm } from "./secret-form.client.tsx";

export type CredentialsSectionProps = Readonly<{
  details: AppDetails;
  /** Whether the person proved who they are a short while ago. */
  isRecent: boolean;
  /** The path of this page. */
  page: string;
}>;

/** What an app proves itself with: its id, and its secret if it has one. */
export function CredentialsSection({
  details: { app, secrets, isConfidential, isInCharge, boundOrganization },
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
              None: the app proves itself with its keys, which are under{" "}
              <a href="#keys" className="link">
                Security
              </a>
              .
            </p>
          ) : !isConfidential ? (
            <p className="max-w-reading text-muted text-small">
              None: this is a public app. It proves itself with PKCE, which is right for what runs on people's machines. Add a
              secret when it runs on a server of yours.
            </p>
          ) : (
            <SecretLines secrets={secrets} />
          )}
        </div>
        {!isInCharge ? (
          <p className="max-w-reading text-muted text-small">
            Administrators of {boundOrganization?.fullName ?? "the organization"} change it, since it opens token exchange.
          </p>
        ) : hasKeys(app) ? null : isRecent ? (
          <>
            <SecretForm action={issueSecretAction.bind(null, app.id)} hasSecret={secrets.length > 0} />
            {secrets.length > 0 && (
              <ConfirmDestructive
                action={deleteSecretAction.bind(null, app.id)}
                trigger="Delete secret"
                title={`Delete the secret of ${app.name}?`}
                confirm="Delete the secret"
              >
                Sign-ins that use it stop working at once. {app.name} works as a public app from now on: with its client ID and
                PKCE.
              </ConfirmDestructive>
            )}
          </>
        ) : (
          <ProveIdentity returnTo={page}>To change the secret, confirm that it is you.</ProveIdentity>
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
                ends <RelativeTime at={secret.expiresAt} />
              </span>
            </Chip>
          )}
          <span className="text-muted">
            made <RelativeTime at={secret.createdAt} /> ·{" "}
            {secret.lastUsedAt ? (
              <>
                last used <RelativeTime at={secret.lastUsedAt} />
              </>
            ) : (
              "not used yet"
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
