import { Check, ChevronDown } from "lucide-react";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";

/** What the person allowed earlier: there to be seen, not asked again. */
export function AlreadyGranted({ granted }: Readonly<{ granted: ConsentRequest["alreadyGranted"] }>) {
  return (
    <details className="group px-6 pt-3 pb-2">
      <summary className="flex items-center gap-2">
        <h2 className="flex-1">Already granted</h2>
        <span className="text-muted text-small">{granted.length}</span>
        <ChevronDown className="size-4 text-muted group-open:rotate-180" aria-hidden="true" />
      </summary>
      <ul className="mt-1 grid gap-1.5 pb-1 text-muted text-small">
        {granted.map(({ scope, sentence }) => (
          <li key={scope} className="flex gap-2.5">
            <Check className="mt-0.5 size-4 shrink-0 text-good" aria-hidden="true" />
            {sentence}
          </li>
        ))}
      </ul>
    </details>
  );
}
