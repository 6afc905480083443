import type { Scope } from "@keyhook/sdk";
import { ChevronDown, Network } from "lucide-react";
import type { ConsentRequest, RequestedOrganization } from "#core/oauth/consents/consent-request.ts";
import { OrganizationRow } from "./organization-row.tsx";

/** So many stand open; what is ticked always does. */
const SHOWN_AT_FIRST = 6;

/** How the scopes that cover organizations read there (docs/specification/oauth.md#scopes). */
const reachSentences: Partial<Record<Scope, string>> = {
  "read-repos": "read their repositories",
  "read-billing": "see whether they have a payment method",
};

/** In which organizations the answer holds: none unless ticked, one by one or, as another answer, all (S31, S32). */
export function OrganizationChoice({ request }: Readonly<{ request: ConsentRequest }>) {
  const { organizations, isAllOrgs } = request;
  if (organizations.length === 0) {
    return (
      <p className="border-line border-t px-6 py-4 text-muted text-small">
        You are in no organization, so this is about your own account only.
      </p>
    );
  }
  // What the app asked for by name stands there even where it cannot be had: otherwise nobody would know why it is missing.
  const firsts = organizations.filter(({ isTicked, isAskedFor }, index) => isTicked || isAskedFor || index < SHOWN_AT_FIRST);
  const { clientId } = request.app;
  const rest = organizations.filter((each) => !firsts.includes(each));
  return (
    <fieldset className="border-line border-t px-6 pt-4 pb-5" aria-describedby="organizations-hint">
      <legend className="contents">
        <h2>In these organizations</h2>
      </legend>
      <p id="organizations-hint" className="text-muted text-small">
        None unless you choose. {reachOf(request)}
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
      <AllOrganizations isTicked={isAllOrgs} isAnyClosed={organizations.some(({ refusal }) => refusal !== null)} />
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

function AllOrganizations({ isTicked, isAnyClosed }: Readonly<{ isTicked: boolean; isAnyClosed: boolean }>) {
  return (
    <label className="mt-3 flex items-start gap-3 border-line border-t px-3 pt-3">
      <span className="grid size-7 shrink-0 place-items-center text-muted">
        <Network className="size-4" aria-hidden="true" />
      </span>
      <span className="min-w-0 flex-1">
        <span id="all-organizations-label" className="block">
          All current and future organizations
        </span>
        <span id="all-organizations-hint" className="block text-muted text-small">
          Also those that you join later, whatever is ticked above
          {isAnyClosed && "; those that keep this app out once they let it in"}.
        </span>
      </span>
      <input
        type="checkbox"
        name="all_organizations"
        value="1"
        defaultChecked={isTicked}
        aria-labelledby="all-organizations-label"
        aria-describedby="all-organizations-hint"
        className="mt-1 size-4 shrink-0"
      />
    </label>
  );
}

/** "Where you do, it sees your role and may read their repositories, as far as you may yourself." */
function reachOf({ scopes, alreadyGranted }: ConsentRequest): string {
  const reach = [...scopes, ...alreadyGranted].flatMap(({ scope }) => reachSentences[scope] ?? []);
  if (reach.length === 0) return "Where you do, it sees your role.";
  return `Where you do, it sees your role and may ${reach.join(" and ")}, as far as you may yourself.`;
}
