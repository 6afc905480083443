"use client";

import { type ReactNode, useActionState } from "react";
import type { FormAction } from "../form-state.ts";
import { FormMessage } from "../page-layout.tsx";

/** Unlike `ActionForm`, this form does not restore ticks after a refusal, because the question may have changed. */
export function ConsentForm({ decide, children }: Readonly<{ decide: FormAction; children: ReactNode }>) {
  const [{ message }, submit] = useActionState(decide, { values: {}, errors: {} });
  return (
    // The buttons at the bottom must not hide the focused element (WCAG 2.4.11).
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
