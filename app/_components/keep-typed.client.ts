"use client";

import { unstable_isUnrecognizedActionError, unstable_rethrow } from "next/navigation";
import type { FormAction } from "./form-state.ts";
import { typedValues } from "./typed-values.ts";

const STALE =
  "The service was updated while this page was open. Nothing was changed, and what you filled in is still here: reload the page, and send it again.";
const UNSENT =
  "No answer came. What you filled in is still here: look whether you are online, and whether it was done after all; then send it again.";

/**
 * An action as a form in the browser calls it. A call that fails on its way would take the form off the page together with what
 * was typed (app/error.tsx); here it is a message like any other. Without scripts server/replace-failed-page.ts does the same.
 */
export function keepTyped(action: FormAction): FormAction {
  return async (previous, data) => {
    try {
      return await action(previous, data);
    } catch (error) {
      unstable_rethrow(error);
      const text = unstable_isUnrecognizedActionError(error) ? STALE : UNSENT;
      return { values: typedValues(data), isSubmitted: true, errors: {}, message: { tone: "bad", text } };
    }
  };
}
