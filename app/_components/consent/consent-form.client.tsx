"use client";

import { type ReactNode, useActionState } from "react";
import type { FormAction } from "../form-state.ts";
import { FormMessage } from "../page-layout.tsx";

/**
 * The form around the question. Unlike `ActionForm`, this form does not restore ticks after a refusal: the question may have changed, and
 * the person must not grant anything that they have not seen ticked.
 */
export function ConsentForm({ decide, children }: Readonly<{ decide: FormAction; children: ReactNode }>) {
  const [{ message }, submit] = useActionState(decide, { values: {}, errors: {} });
  return (
    // The focused element is never hidden by the buttons that stick to the bottom (WCAG 2.4.11).
    <form action={submit} className="contents [&_:is(a,input,summary)]:scroll-mb-32">
      {message && (
        <div className="border-line border-b px-6 py-4">
          <FormMessage tone={message.tone}>{message.text}</FormMessage>
        </div>
      )}
      {children}
    </form>
  );
}
