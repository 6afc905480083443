import { describeScope, type Scope, type ScopeGroup, scopes } from "@keyhook/sdk";
import { Chip } from "../chip.tsx";
import { ChoiceRow } from "../choice-row.client.tsx";

const groups: ReadonlyArray<Readonly<{ group: ScopeGroup; label: string }>> = [
  { group: "identity", label: "Who they are" },
  { group: "read", label: "Read" },
  { group: "write", label: "Write" },
  { group: "act", label: "Act for them" },
];

export type ScopeChoicesProps = Readonly<{
  /** Ticked at first. */
  chosen: readonly string[];
}>;

/** The fifteen scopes as checkboxes named `scopes`, each by the sentence that people read on the consent page. */
export function ScopeChoices({ chosen }: ScopeChoicesProps) {
  return (
    <div className="grid gap-x-8 gap-y-5 xl:grid-cols-2">
      {groups.map(({ group, label }) => (
        <fieldset key={group} className="min-w-0">
          <legend className="pb-1 text-fine text-muted">{label}</legend>
          <div className="divide-y divide-line">
            {scopes
              .filter((scope) => describeScope(scope).group === group)
              .map((scope) => (
                <ScopeChoice key={scope} scope={scope} isChosen={chosen.includes(scope)} />
              ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

function ScopeChoice({ scope, isChosen }: Readonly<{ scope: Scope; isChosen: boolean }>) {
  const { sentence, note, isDangerous } = describeScope(scope);
  return (
    <ChoiceRow
      type="checkbox"
      name="scopes"
      value={scope}
      defaultChecked={isChosen}
      label={
        <span className="flex flex-wrap items-center gap-x-2">
          {sentence} {isDangerous && <Chip tone="warn">Careful</Chip>}
        </span>
      }
      hint={
        <>
          <code>{scope}</code>
          {note && ` · ${note}`}
        </>
      }
    />
  );
}
