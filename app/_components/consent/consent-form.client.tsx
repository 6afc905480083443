"use client";

import { type ReactNode, useActionState } from "react";
import { FormMessage } from "../form-message.tsx";
import type { FormAction } from "../form-state.ts";

/**
 * The form around the question. Unlike `ActionForm` it brings no ticks back after a refusal: the question may have changed, and
 * nothing may be granted that the person has not seen ticked.
 */
export function ConsentForm({ decide, children }: Readonly<{ decide: FormAction; children: ReactNode }>) {
  const [{ message }, submit] = useActionState(decide, { values: {}, errors: {} });
  return (
    <form action={submit}>
      {message && (
        <div className="border-line border-b px-6 py-4">
          <FormMessage tone={message.tone}>{message.text}</FormMessage>
        </div>
      )}
      {children}
    </form>
  );
}
