import { describeScope, type Scope } from "@keyhook/sdk";
import { ScopeDanger } from "../../_components/scopes/scope-danger.tsx";
import { scopeIcons } from "../../_components/scopes/scope-icons.ts";

/** So many sentences stand open. */
const SHOWN_AT_FIRST = 5;

/** What was allowed, in the words in which it was asked; what is grave is never folded away. */
export function GrantedScopes({ scopes }: Readonly<{ scopes: readonly Scope[] }>) {
  if (scopes.length === 0) return "nothing";
  const grave = (scope: Scope) => Number(describeScope(scope).isDangerous ?? false);
  const sorted = [...scopes].sort((a, b) => grave(b) - grave(a));
  const [firsts, rest] = [sorted.slice(0, SHOWN_AT_FIRST), sorted.slice(SHOWN_AT_FIRST)];
  return (
    <>
      <Sentences scopes={firsts} />
      {rest.length > 0 && (
        <details className="mt-1">
          <summary className="link inline-block text-muted">and {rest.length} more</summary>
          <div className="mt-1">
            <Sentences scopes={rest} />
          </div>
        </details>
      )}
    </>
  );
}

function Sentences({ scopes }: Readonly<{ scopes: readonly Scope[] }>) {
  return (
    <ul className="grid gap-1">
      {scopes.map((scope) => {
        const Icon = scopeIcons[scope];
        return (
          <li key={scope} className="flex items-start gap-2.5">
            <Icon className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden="true" />
            <span className="flex min-w-0 flex-wrap items-center gap-x-2">
              {describeScope(scope).sentence}
              <ScopeDanger scope={scope} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
