"use client";

import { useFormState } from "../action-form.client.tsx";

/** A group of checkboxes has no field of its own. */
export function FieldError({ name }: Readonly<{ name: string }>) {
  const error = useFormState().errors[name];
  return error ? (
    <p role="alert" className="text-bad text-small">
      {error}
    </p>
  ) : null;
}
