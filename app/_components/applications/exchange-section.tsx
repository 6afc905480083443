import { CircleCheck, CircleDashed } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/app-privilege.ts";
import { hasKeys } from "#core/oauth/apps/change-app.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import type { RecentExchange } from "#core/oauth/exchange/list-exchanges.ts";
import { userEmailTokenTypes } from "#core/oauth/exchange/read-exchange-request.ts";
import { ACCESS_TOKEN_SECONDS } from "#core/oauth/lifetimes.ts";
import { bindAction, requestPrivilegeAction, setTokenDurationAction, unbindAction } from "../../_server/applications/actions.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { hrefWith } from "../../_server/page-query.ts";
import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import { Button } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { CodeBlock } from "../copyable.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { Field, Select } from "../fields.client.tsx";
import { SectionCard } from "../page-layout.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { exchangeSnippet } from "./snippets.ts";
import { RecentExchanges } from "./usage-section.tsx";

type ExchangeSectionProps = Readonly<{
  details: AppDetails;
  isRecent: boolean;
  page: string;
  email: string;
  bindable: readonly BindableOrganization[];
  exchanges: readonly RecentExchange[];
}>;

export function ExchangeSection(props: ExchangeSectionProps) {
  const { details, isRecent, bindable } = props;
  if (!details.boundOrganization && bindable.length === 0) return null;
  return (
    <SectionCard
      title="Token exchange"
      description={
        <>
          An organization's program gets tokens for members without asking each of them. It identifies members by e-mail address.
          The tokens act only within the organization. Outside it, they can only read public content and gated repositories that
          the member has access to.{" "}
          <Link prefetch={false} href="/docs/token-exchange" className="link">
            The guide
          </Link>
        </>
      }
    >
      {details.boundOrganization ? (
        <Bound {...props} organization={details.boundOrganization} />
      ) : (
        <BindForm app={details.app} bindable={bindable} isRecent={isRecent} />
      )}
    </SectionCard>
  );
}

type Organization = NonNullable<AppDetails["boundOrganization"]>;

function Bound(props: ExchangeSectionProps & Readonly<{ organization: Organization }>) {
  const { details, isRecent, email, exchanges, organization } = props;
  const { app, mayManageAccess, isOwner } = details;
  const isReady = app.privileges.includes(TOKEN_EXCHANGE) && organization.hasPlan && details.secrets.length > 0;
  const sample = { issuer: env().ORIGIN, clientId: app.clientId, tokenType: userEmailTokenTypes()[0] ?? "", email };
  return (
    <div className="grid grid-cols-1 gap-6">
      <Checklist {...props} />
      {mayManageAccess && (
        <>
          <Part title="Token duration" id="duration">
            <Duration app={app} isRecent={isRecent} />
          </Part>
          <Part title={isReady ? "Example" : "Example for when the app is ready"}>
            <p className="max-w-reading text-muted text-small">
              Gets a token for you, with the secret from the environment variable <code>CLIENT_SECRET</code>. Without{" "}
              <code>scope</code> it gets all scopes of the app
              {app.scopes.length > 1 && (
                <>
                  ; add <code>-d scope={app.scopes[0]}</code> for fewer
                </>
              )}
              .
            </p>
            <CodeBlock code={exchangeSnippet(sample)} label="curl command" />
          </Part>
          <Part title="Latest exchanges">
            <RecentExchanges
              exchanges={exchanges}
              auditLog={hrefWith(organizationPath(organization.name, "audit-log"), { kind: "oauth_token" })}
            />
          </Part>
        </>
      )}
      {(mayManageAccess || isOwner) && (
        <Part title="Binding">
          {isRecent ? (
            <ConfirmDestructive
              action={unbindAction.bind(null, app.id)}
              trigger="Unbind"
              title={`Unbind ${app.name} from ${organization.fullName}?`}
              confirm={`Unbind ${app.name}`}
            >
              The app can no longer get tokens for members of {organization.fullName}, and its existing ones are revoked
              immediately. If you bind it again, the operator must grant the privilege again.
            </ConfirmDestructive>
          ) : (
            <Button variant="danger" disabled className="justify-self-start">
              Unbind
            </Button>
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

function Checklist({ details, organization, page }: ExchangeSectionProps & Readonly<{ organization: Organization }>) {
  const { app, secrets, mayManageAccess, isOwner } = details;
  const hasPrivilege = app.privileges.includes(TOKEN_EXCHANGE);
  const { BRAND_NAME } = env();
  return (
    <ul className="grid gap-3" aria-label="Requirements for token exchange">
      <Requirement isMet label={`Bound to ${organization.fullName}`} />
      <Requirement isMet={organization.hasPlan} label="The organization has the Enterprise or Plus plan">
        The operator of {BRAND_NAME} sets the plan. Under any other plan, exchanges are refused.
      </Requirement>
      <Requirement isMet={hasPrivilege} label="The operator has granted the app the token-exchange privilege">
        {app.privilegeRequestedAt ? (
          <>
            Requested <RelativeTime at={app.privilegeRequestedAt} />.
            {isMailSent() && ` The administrators of ${organization.fullName} get an e-mail when it is granted.`}
          </>
        ) : mayManageAccess ? (
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
          "An administrator of the organization must request it."
        )}
      </Requirement>
      <Requirement isMet={secrets.length > 0} label="The app has a secret">
        Exchanges require a secret, sent by HTTP Basic; keys and PKCE are not enough.{" "}
        {!mayManageAccess ? (
          "An administrator of the organization must add one."
        ) : (
          <>
            {hasKeys(app) ? `First delete the keys${isOwner ? " under Security" : ""}, then add` : "Add"} a secret under{" "}
            <Link prefetch={false} href={`${page}?tab=connect`} className="link">
              Connect
            </Link>
            .
          </>
        )}
      </Requirement>
    </ul>
  );
}

function Requirement({ isMet, label, children }: Readonly<{ isMet: boolean; label: ReactNode; children?: ReactNode }>) {
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
  if (!isRecent) return <p className="text-small">{formatHours(hours)}.</p>;
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
        label="Hours"
        hint="From 1 to 720 (30 days). Shorter is safer: the program can always exchange again."
      />
      <SubmitButton variant="secondary">Save duration</SubmitButton>
    </ActionForm>
  );
}

function formatHours(hours: number): string {
  if (hours % 24 === 0) return hours === 24 ? "1 day" : `${hours / 24} days`;
  return hours === 1 ? "1 hour" : `${hours} hours`;
}

type BindableOrganization = Readonly<{ id: string; name: string; fullName: string }>;

type BindFormProps = Readonly<{
  app: AppDetails["app"];
  bindable: readonly BindableOrganization[];
  isRecent: boolean;
}>;

function BindForm({ app, bindable, isRecent }: BindFormProps) {
  const [only, ...more] = bindable;
  if (!isRecent) {
    return (
      <Button disabled className="justify-self-start">
        Bind the app
      </Button>
    );
  }
  return (
    <ActionForm action={bindAction.bind(null, app.id)} label="Bind" className="grid max-w-reading gap-4">
      {more.length > 0 || !app.ownerOrgId ? (
        <Select
          name="orgId"
          label="Organization"
          options={bindable.map(({ id, fullName, name }) => ({ value: id, label: `${fullName} (${name})` }))}
          hint="Its administrators will control the app's secret, scopes and token duration."
        />
      ) : (
        <>
          <input type="hidden" name="orgId" value={only?.id} />
          <p className="text-muted text-small">
            The app is not bound to an organization yet. Bind it to {only?.fullName}, then request the privilege from the
            operator.
          </p>
        </>
      )}
      <SubmitButton variant="secondary">
        {more.length > 0 || !app.ownerOrgId ? "Bind the app" : `Bind to ${only?.fullName}`}
      </SubmitButton>
    </ActionForm>
  );
}
