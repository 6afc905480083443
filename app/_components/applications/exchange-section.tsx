import { CircleCheck, CircleDashed } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/privilege.ts";
import type { RecentExchange } from "#core/oauth/exchange/list-recent-exchanges.ts";
import { userEmailTokenTypes } from "#core/oauth/exchange/read-exchange-request.ts";
import { ACCESS_TOKEN_SECONDS } from "#core/oauth/lifetimes.ts";
import { requestPrivilegeAction, setTokenDurationAction, unbindAction } from "../../_server/applications/exchange-actions.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { ActionForm } from "../action-form.client.tsx";
import { Chip } from "../chip.tsx";
import { CodeBlock } from "../code-block.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { Field } from "../field.client.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { type BindableOrganization, BindForm } from "./bind-form.tsx";
import { RecentExchanges } from "./recent-exchanges.tsx";
import { exchangeSnippet } from "./snippets/exchange-snippet.ts";

export type ExchangeSectionProps = Readonly<{
  details: AppDetails;
  isRecent: boolean;
  page: string;
  /** The address of whoever looks at the page, for the example. */
  email: string;
  /** Where an app that is bound to none may be bound. */
  bindable: readonly BindableOrganization[];
  exchanges: readonly RecentExchange[];
}>;

/** Token exchange of an app: what it still lacks, and once it lacks nothing, how to use it. */
export function ExchangeSection(props: ExchangeSectionProps) {
  const { details, isRecent, page, bindable } = props;
  if (!details.boundOrganization && bindable.length === 0) return null;
  return (
    <SectionCard
      title="Token exchange"
      description={
        <>
          A program of an organization gets tokens for its members by their e-mail address, without asking each of them. The
          tokens act within the organization only.{" "}
          <Link prefetch={false} href="/docs/token-exchange" className="link">
            The guide
          </Link>
        </>
      }
    >
      {details.boundOrganization ? (
        <Bound {...props} organization={details.boundOrganization} />
      ) : (
        <BindForm app={details.app} bindable={bindable} isRecent={isRecent} page={page} />
      )}
    </SectionCard>
  );
}

type Organization = NonNullable<AppDetails["boundOrganization"]>;

function Bound(props: ExchangeSectionProps & Readonly<{ organization: Organization }>) {
  const { details, isRecent, page, email, exchanges, organization } = props;
  const { app, isInCharge, isOwner } = details;
  const isReady = app.privileges.includes(TOKEN_EXCHANGE) && organization.hasPlan && details.secrets.length > 0;
  const sample = { issuer: env().ORIGIN, clientId: app.clientId, tokenType: userEmailTokenTypes()[0] ?? "", email };
  return (
    <div className="grid grid-cols-1 gap-6">
      <Checklist {...props} />
      {isInCharge && (
        <>
          <Part title="Token duration" id="duration">
            <Duration app={app} isRecent={isRecent} />
          </Part>
          <Part title={isReady ? "Try it" : "Once it is ready"}>
            <p className="max-w-reading text-muted text-small">
              A token for yourself, with the secret in the environment variable <code>CLIENT_SECRET</code>. Without{" "}
              <code>scope</code> it gets all that is configured; add <code>-d scope=read-repos</code> for less.
            </p>
            <CodeBlock code={exchangeSnippet(sample)} label="curl command" />
          </Part>
          <Part title="Last exchanges">
            <RecentExchanges exchanges={exchanges} auditLog={`${organizationPath(organization.name, "audit-log")}`} />
          </Part>
        </>
      )}
      {(isInCharge || isOwner) && (
        <Part title="End the binding">
          {isRecent ? (
            <ConfirmDestructive
              action={unbindAction.bind(null, app.id)}
              trigger="Unbind"
              title={`Unbind ${app.name} from ${organization.fullName}?`}
              confirm={`Unbind ${app.name}`}
            >
              It gets no more tokens for members of {organization.fullName}, and those that it has end at once. Bound again, it
              has to be given the privilege anew.
            </ConfirmDestructive>
          ) : (
            <ProveIdentity returnTo={page}>To change the token duration or the binding, confirm that it is you.</ProveIdentity>
          )}
        </Part>
      )}
    </div>
  );
}

function Part({ title, id, children }: Readonly<{ title: string; id?: string; children: ReactNode }>) {
  return (
    <div id={id} className="grid grid-cols-1 gap-3 border-line border-t pt-5">
      <h3 className="font-medium">{title}</h3>
      {children}
    </div>
  );
}

/** What an app needs to exchange tokens, and for each that is missing the next step. */
function Checklist({ details, organization }: ExchangeSectionProps & Readonly<{ organization: Organization }>) {
  const { app, secrets, isInCharge } = details;
  const hasPrivilege = app.privileges.includes(TOKEN_EXCHANGE);
  const { BRAND_NAME } = env();
  return (
    <ul className="grid gap-3" aria-label="What token exchange needs">
      <Need isMet label={`Bound to ${organization.fullName}`} />
      <Need isMet={organization.hasPlan} label="The organization has the Enterprise plan">
        The operator of {BRAND_NAME} sets the plan. Without it, exchanges are refused.
      </Need>
      <Need isMet={hasPrivilege} label="The operator has given the app the privilege token-exchange">
        {app.privilegeRequestedAt ? (
          <>
            Asked for <RelativeTime at={app.privilegeRequestedAt} />. The administrators of {organization.fullName} get a letter
            when it is given.
          </>
        ) : isInCharge ? (
          <ActionForm
            action={requestPrivilegeAction.bind(null, app.id)}
            label="Privilege"
            className="grid justify-items-start gap-2"
          >
            <SubmitButton size="small" variant="secondary">
              Ask the operator
            </SubmitButton>
          </ActionForm>
        ) : (
          "An administrator of the organization asks for it."
        )}
      </Need>
      <Need isMet={secrets.length > 0} label="The app has a secret">
        It proves itself by HTTP Basic; keys or PKCE do not do for exchanges. Make one under Credentials, above.
      </Need>
    </ul>
  );
}

function Need({ isMet, label, children }: Readonly<{ isMet: boolean; label: ReactNode; children?: ReactNode }>) {
  const Icon = isMet ? CircleCheck : CircleDashed;
  return (
    <li className="flex items-start gap-3">
      <Icon className={`mt-0.5 size-5 shrink-0 ${isMet ? "text-good" : "text-warn"}`} aria-hidden="true" />
      <div className="grid min-w-0 gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {label}
          {!isMet && <Chip tone="warn">Missing</Chip>}
        </p>
        {!isMet && <div className="max-w-reading text-muted text-small">{children}</div>}
      </div>
    </li>
  );
}

function Duration({ app, isRecent }: Readonly<{ app: AppDetails["app"]; isRecent: boolean }>) {
  const hours = Math.round((app.accessTokenSeconds ?? ACCESS_TOKEN_SECONDS) / 3600);
  if (!isRecent) return <p className="text-small">{spoken(hours)}.</p>;
  return (
    <ActionForm
      action={setTokenDurationAction.bind(null, app.id)}
      values={{ tokenHours: String(hours) }}
      label="Token duration"
      className="grid max-w-reading gap-4"
    >
      <Field
        name="tokenHours"
        type="number"
        min={1}
        max={720}
        inputMode="numeric"
        label="Hours that a token works"
        hint="From 1 to 720, which is 30 days. Short is safer: there is no refresh token, the program just exchanges again."
      />
      <div>
        <SubmitButton variant="secondary">Save duration</SubmitButton>
      </div>
    </ActionForm>
  );
}

/** `8 hours`, `2 days`. */
function spoken(hours: number): string {
  if (hours % 24 === 0) return hours === 24 ? "1 day" : `${hours / 24} days`;
  return hours === 1 ? "1 hour" : `${hours} hours`;
}
