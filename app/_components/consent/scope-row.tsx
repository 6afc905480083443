import { Check } from "lucide-react";
import type { RequestedScope } from "#core/oauth/consents/consent-request.ts";
import { ScopeDanger } from "../scopes/scope-danger.tsx";
import { scopeIcons } from "../scopes/scope-icons.ts";

export type ScopeRowProps = Readonly<{
  requested: RequestedScope;
  /** What there is to know besides the sentence. */
  detail?: string | undefined;
}>;

const rowClass = "flex items-start gap-3 py-2.5";

export function ScopeRow({ requested, detail }: ScopeRowProps) {
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
