"use client";

import { useFormState } from "../action-form.client.tsx";

/** The form's message for a group of checkboxes, which has no field of its own. */
export function FieldError({ name }: Readonly<{ name: string }>) {
  const error = useFormState().errors[name];
  return error ? (
    <p role="alert" className="text-bad text-small">
      {error}
    </p>
  ) : null;
}
