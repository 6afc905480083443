import type { Scope } from "@keyhook/sdk";
import { Ban, Check, ChevronDown, Network } from "lucide-react";
import Link from "next/link";
import type { ConsentRequest, RequestedOrganization, RequestedScope } from "#core/oauth/consents/consent-request.ts";
import { Avatar, avatarSrc } from "../avatar.tsx";
import { Chip } from "../chip.tsx";
import { refusalSentences, roleNames } from "../organization-wording.ts";
import { ScopeDanger, scopeGroups, scopeIcons } from "../scopes.tsx";

/** Ticked organizations are always shown. */
const SHOWN_AT_FIRST = 6;

const reachSentences: Partial<Record<Scope, string>> = {
  "read-repos": "read the repositories you have access to",
  "read-billing": "see whether the organization has a payment method",
  "write-discussions":
    "take part in discussions and pull requests in the repositories it can read and, where you may write, close, lock and delete what others opened",
};

/** See S31 and S32. */
export function OrganizationChoice({ request }: Readonly<{ request: ConsentRequest }>) {
  const { organizations, isAllOrgs } = request;
  if (organizations.length === 0) {
    return (
      <p className="border-line border-t px-6 py-4 text-muted text-small">
        You are not in any organization, so the app gets access to none.
      </p>
    );
  }
  // A requested organization is never collapsed, even if the user cannot grant access, so that the user sees the reason.
  const firsts = organizations.filter(({ isTicked, isAskedFor }, index) => isTicked || isAskedFor || index < SHOWN_AT_FIRST);
  const { clientId } = request.app;
  const rest = organizations.filter((each) => !firsts.includes(each));
  return (
    <fieldset className="group/all border-line border-t px-6 pt-4 pb-5" aria-describedby="organizations-hint">
      <legend className="contents">
        <h2>In these organizations</h2>
      </legend>
      <p id="organizations-hint" className="text-muted text-small">
        {reachOf(request)}
      </p>
      <Rows organizations={firsts} clientId={clientId} />
      {rest.length > 0 && (
        <details className="group mt-2">
          <summary className="flex items-center justify-between gap-3 rounded-control border border-line border-dashed px-3 py-2 text-small">
            <span>
              {rest.length} more {rest.length === 1 ? "organization" : "organizations"}
            </span>
            <ChevronDown className="size-4 text-muted group-open:rotate-180" aria-hidden="true" />
          </summary>
          <Rows organizations={rest} clientId={clientId} />
        </details>
      )}
      <AllOrganizations isTicked={isAllOrgs} isAnyBlocked={organizations.some(({ refusal }) => refusal !== null)} />
    </fieldset>
  );
}

function Rows({ organizations, clientId }: Readonly<{ organizations: readonly RequestedOrganization[]; clientId: string }>) {
  return (
    <ul className="mt-2 grid gap-2">
      {organizations.map((organization) => (
        <OrganizationRow key={organization.id} organization={organization} clientId={clientId} />
      ))}
    </ul>
  );
}

/** Without scripts (S24), CSS shows “Included” in place of the other checkboxes when all organizations are chosen (S32). */
function AllOrganizations({ isTicked, isAnyBlocked }: Readonly<{ isTicked: boolean; isAnyBlocked: boolean }>) {
  return (
    <label className="group/widest mt-4 flex items-center gap-3 rounded-control border border-line px-3 py-2 has-checked:border-warn has-checked:bg-warn-soft">
      <span className="grid size-7 shrink-0 place-items-center text-muted">
        <Network className="size-4" aria-hidden="true" />
      </span>
      <span className="min-w-0 flex-1 leading-5">
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span id="all-organizations-label">All current and future organizations</span>
          <span className="group-has-checked/widest:*:bg-surface">
            <Chip tone="warn">Widest access</Chip>
          </span>
        </span>
        <span id="all-organizations-hint" className="block text-muted text-small">
          Includes organizations you join later
          {isAnyBlocked && " and those that do not allow this app now, once they do"}.
        </span>
      </span>
      <input
        type="checkbox"
        name="all_organizations"
        value="1"
        defaultChecked={isTicked}
        aria-labelledby="all-organizations-label"
        aria-describedby="all-organizations-hint"
        className="size-4 shrink-0"
      />
    </label>
  );
}

const list = new Intl.ListFormat("en");

/** An app of the service itself, such as the command line, can use all its scopes in an organization. */
function reachOf({ app, scopes, alreadyGranted }: ConsentRequest): string {
  if (app.isFirstParty)
    return "Optional. In each organization you select, the app can see your role, and do what you allow above as far as your role permits.";
  const reach = [...scopes, ...alreadyGranted].flatMap(({ scope }) => reachSentences[scope] ?? []);
  return `Optional. In each organization you select, the app can ${list.format(["see your role", ...reach])}.`;
}

type OrganizationRowProps = Readonly<{ organization: RequestedOrganization; clientId: string }>;

function OrganizationRow({ organization, clientId }: OrganizationRowProps) {
  const { id, name, fullName, avatarId, refusal, isTicked } = organization;
  if (refusal !== null) return <BlockedRow organization={organization} clientId={clientId} />;
  return (
    <li>
      <label className="flex items-center gap-3 rounded-control border border-line px-3 py-2 has-checked:border-ink">
        <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="sm" kind="organization" />
        <span className="min-w-0 flex-1 break-words leading-5">
          <bdi id={`${id}-label`}>{fullName}</bdi>
          <span id={`${id}-detail`}>
            <Role role={organization.role} />
            <span className="block text-muted text-small">{detailOf(organization)}</span>
          </span>
        </span>
        <span className="hidden text-muted text-small group-has-[[name^=all]:checked]/all:inline group-has-[[name^=all]:checked]/all:max-sm:sr-only">
          Included
        </span>
        <span className="grid size-4 shrink-0 *:col-start-1 *:row-start-1">
          <input
            type="checkbox"
            name="organization"
            value={id}
            defaultChecked={isTicked}
            aria-labelledby={`${id}-label`}
            aria-describedby={`${id}-detail`}
            className="size-4 group-has-[[name^=all]:checked]/all:invisible"
          />
          <Check className="invisible size-4 text-good group-has-[[name^=all]:checked]/all:visible" aria-hidden="true" />
        </span>
      </label>
    </li>
  );
}

function BlockedRow({ organization, clientId }: OrganizationRowProps) {
  const { name, fullName, avatarId, refusal, isApprovalRequested } = organization;
  if (refusal === null) return null;
  return (
    <li className="flex items-center gap-3 rounded-control border border-line border-dashed bg-sunken px-3 py-2">
      <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="sm" kind="organization" />
      <span className="min-w-0 flex-1 break-words text-muted leading-5">
        <bdi>{fullName}</bdi>
        <Role role={organization.role} />
        <span className="block text-small">
          {[detailOf(organization), `It ${refusalSentences[refusal]}.`].filter(Boolean).join(" · ")}{" "}
          {refusal === "not_approved" && isApprovalRequested && "You have asked its administrators."}
          {refusal === "not_approved" && !isApprovalRequested && (
            <Link
              prefetch={false}
              target="_blank"
              className="link text-ink"
              href={`/organizations/${encodeURIComponent(name)}/ask-for-app?${new URLSearchParams({ client_id: clientId })}`}
            >
              Ask its administrators<span className="sr-only"> to approve this app in {fullName}</span>
            </Link>
          )}
        </span>
      </span>
      <Ban className="size-4 shrink-0 text-muted" aria-hidden="true" />
    </li>
  );
}

const Role = ({ role }: Pick<RequestedOrganization, "role">) => <span className="text-muted"> · {roleNames[role]}</span>;

function detailOf({ name, fullName, isAskedFor, isAlreadyGranted }: RequestedOrganization): string {
  return [
    ...(fullName.toLowerCase() === name.toLowerCase() ? [] : [name]),
    ...(isAskedFor ? ["requested by the app"] : []),
    ...(isAlreadyGranted ? ["granted before"] : []),
  ].join(" · ");
}

type ScopeChoiceProps = Readonly<{ scopes: readonly RequestedScope[]; email: string }>;

/** Users can untick all scopes except those that a sign-in needs (S30). */
export function ScopeChoice({ scopes, email }: ScopeChoiceProps) {
  return (
    <fieldset className="px-6 pt-4 pb-2">
      <legend className="contents">
        <h2>It will be able to</h2>
      </legend>
      {scopeGroups.map(({ group, label }) => {
        const members = scopes.filter((each) => each.group === group);
        if (members.length === 0) return null;
        return (
          <section key={group} aria-label={label} className="mt-3">
            <h3 className="text-fine text-muted">{label}</h3>
            <ul className="divide-y divide-line">
              {members.map((each) => (
                <ScopeRow key={each.scope} requested={each} detail={each.scope === "email" ? email : each.note} />
              ))}
            </ul>
          </section>
        );
      })}
    </fieldset>
  );
}

type ScopeRowProps = Readonly<{
  requested: RequestedScope;
  detail?: string | undefined;
}>;

const rowClass = "flex items-start gap-3 py-2.5";

function ScopeRow({ requested, detail }: ScopeRowProps) {
  const { scope, isRequired, isTicked } = requested;
  const id = `scope-${scope}`;
  if (isRequired) {
    return (
      <li className={rowClass}>
        <Sentence id={id} requested={requested} detail="Needed to sign you in" />
        <Check className="mt-1 size-4 shrink-0 text-good" aria-hidden="true" />
      </li>
    );
  }
  const hasDetail = Boolean(detail || requested.isDangerous);
  return (
    <li>
      <label className={rowClass}>
        <Sentence id={id} requested={requested} detail={detail} />
        <input
          type="checkbox"
          name="scope"
          value={scope}
          defaultChecked={isTicked}
          aria-labelledby={`${id}-label`}
          aria-describedby={hasDetail ? `${id}-detail` : undefined}
          className="mt-1 size-4 shrink-0"
        />
      </label>
    </li>
  );
}

function Sentence({ id, requested, detail }: ScopeRowProps & Readonly<{ id: string }>) {
  const { scope, sentence } = requested;
  const Icon = scopeIcons[scope];
  return (
    <>
      <Icon className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
      <span className="min-w-0 flex-1 break-words">
        <span id={`${id}-label`} className="block">
          {sentence}
        </span>
        <span id={`${id}-detail`} className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-small">
          <ScopeDanger scope={scope} />
          {detail}
        </span>
      </span>
    </>
  );
}
