"use client";

import { useFormState } from "../action-form.client.tsx";

/** Shows the error of a group of checkboxes, which has no single field. */
export function FieldError({ name }: Readonly<{ name: string }>) {
  const error = useFormState().errors[name];
  return error ? (
    <p role="alert" className="text-bad text-small">
      {error}
    </p>
  ) : null;
}
