import type { ReactNode } from "react";
import { CopyField } from "./copy-field.tsx";
import { FormMessage } from "./form-message.tsx";

export type SecretOnceProps = Readonly<{
  label: string;
  value: string;
  /** Where to keep it, what it is good for. */
  children?: ReactNode;
}>;

/** A secret that was just made. It is stored hashed, so this is the only time that it can be read. */
export function SecretOnce({ label, value, children }: SecretOnceProps) {
  return (
    <div className="grid gap-3">
      <FormMessage tone="warn">Copy it now: it is shown this once and cannot be read again later. {children}</FormMessage>
      <CopyField label={label} value={value} />
    </div>
  );
}
