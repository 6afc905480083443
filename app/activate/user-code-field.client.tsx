"use client";

import { useId } from "react";
import { useFormState } from "../_components/action-form.client.tsx";
import { describedBy, FieldFrame } from "../_components/field-frame.tsx";

const HINT = "Eight letters, upper or lower case. The hyphen is optional.";

/** A single field, so that a code can be pasted. CSS draws two boxes. */
export function UserCodeField() {
  const id = useId();
  const { values, errors } = useFormState();
  const typed = values.user_code;
  const error = errors.user_code;
  return (
    <FieldFrame id={id} label="Code" hint={HINT} error={error}>
      <div className="user-code-field">
        <input
          id={id}
          name="user_code"
          defaultValue={typeof typed === "string" ? typed : undefined}
          // biome-ignore lint/a11y/noAutofocus: the only thing to do on this page
          autoFocus
          autoComplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          inputMode="text"
          maxLength={64}
          // The style sheet needs both: `placeholder` for an empty field, `pattern` for a fifth character without a hyphen.
          placeholder=" "
          pattern="[\p{L}\p{N}]{5,}"
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(id, { hint: HINT, error })}
        />
        <span aria-hidden="true" />
        <span aria-hidden="true" />
      </div>
    </FieldFrame>
  );
}
