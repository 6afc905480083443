import { describeScope, type Scope, scopes } from "@keyhook/sdk";
import { Chip } from "../../_components/chip.tsx";
import { ScopeDanger } from "../../_components/scopes/scope-danger.tsx";
import { scopeGroups } from "../../_components/scopes/scope-groups.ts";
import { scopeIcons } from "../../_components/scopes/scope-icons.ts";

/** All that an app can ask for, in the words of the page that asks. */
export function ScopeGlossary() {
  return scopeGroups.map(({ group, label }) => (
    <section key={group} aria-label={label} className="border-line px-4 py-4 not-first:border-t sm:px-5">
      <h3 className="text-fine text-muted">{label}</h3>
      <dl className="mt-1 divide-y divide-line">
        {scopes
          .filter((scope) => describeScope(scope).group === group)
          .map((scope) => (
            <Entry key={scope} scope={scope} />
          ))}
      </dl>
    </section>
  ));
}

function Entry({ scope }: Readonly<{ scope: Scope }>) {
  const { sentence, note, coversOrganizations } = describeScope(scope);
  const Icon = scopeIcons[scope];
  return (
    <div className="py-2.5">
      <dt className="flex items-start gap-3">
        <Icon className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
        <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          {sentence}
          <ScopeDanger scope={scope} />
          {coversOrganizations && <Chip>Also in ticked organizations</Chip>}
        </span>
      </dt>
      <dd className="pl-7 text-muted text-small">
        {note} <code className="text-fine">{scope}</code>
      </dd>
    </div>
  );
}
