import { describeScope, type Scope, type ScopeGroup, scopes } from "@keyhook/sdk";
import { Chip } from "../../_components/chip.tsx";

const groups: ReadonlyArray<{ group: ScopeGroup; label: string }> = [
  { group: "identity", label: "Who you are" },
  { group: "read", label: "Read" },
  { group: "write", label: "Write" },
  { group: "act", label: "Act for you" },
];

/** All that an app can ask for, in the words of the page that asks. */
export function ScopeGlossary() {
  return groups.map(({ group, label }) => (
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
  const { sentence, note, isDangerous, coversOrganizations } = describeScope(scope);
  return (
    <div className="py-2.5">
      <dt className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {sentence}
        {isDangerous && <Chip tone="warn">Far-reaching</Chip>}
        {coversOrganizations && <Chip>Also in ticked organizations</Chip>}
      </dt>
      <dd className="text-muted text-small">
        {note} <code className="text-fine">{scope}</code>
      </dd>
    </div>
  );
}
