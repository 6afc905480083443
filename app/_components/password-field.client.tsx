"use client";

import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import { controlClass, describedBy, FieldFrame } from "./field-frame.tsx";

export type PasswordFieldProps = Readonly<{
  name: string;
  label: ReactNode;
  /** Tells password managers whether to fill or to suggest. */
  autoComplete: "current-password" | "new-password";
  hint?: ReactNode;
  aside?: ReactNode;
}>;

/** A password, with a switch to read what one typed. It is never filled again by the server. */
export function PasswordField({ name, label, autoComplete, hint, aside }: PasswordFieldProps) {
  const id = useId();
  const error = useFormState().errors[name];
  const [isShown, setShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <FieldFrame {...{ id, label, hint, error, aside }}>
      <div className="relative">
        <input
          id={id}
          name={name}
          type={isShown ? "text" : "password"}
          autoComplete={autoComplete}
          autoCapitalize="none"
          spellCheck={false}
          required
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(id, { hint, error })}
          className={classNames(controlClass, "h-10 pr-11 noscript:pr-3")}
        />
        <button
          type="button"
          aria-label={isShown ? "Hide what is typed" : "Show what is typed"}
          aria-controls={id}
          onClick={() => setShown(!isShown)}
          className="absolute inset-y-1 right-1 grid w-9 place-items-center rounded-control text-muted hover:text-ink noscript:hidden"
        >
          <Icon className="size-4" aria-hidden="true" />
        </button>
      </div>
    </FieldFrame>
  );
}
