import type { RequestedScope } from "#core/oauth/consents/consent-request.ts";
import { scopeGroups } from "../scopes/scope-groups.ts";
import { ScopeRow } from "./scope-row.tsx";

export type ScopeChoiceProps = Readonly<{ scopes: readonly RequestedScope[]; email: string }>;

/** What the app asks for, as sentences. What a sign-in needs is stated, the rest can be unticked (S30). */
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
