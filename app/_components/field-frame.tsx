import type { ReactNode } from "react";

export const controlClass =
  "w-full rounded-control border border-edge bg-surface px-3 text-body text-ink aria-invalid:border-bad disabled:bg-sunken disabled:text-muted";

type FieldFrameProps = Readonly<{
  id: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  isOptional?: boolean;
  aside?: ReactNode;
  children: ReactNode;
}>;

export function describedBy(id: string, { hint, error }: { hint?: ReactNode; error?: ReactNode }): string | undefined {
  return [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ") || undefined;
}

export function FieldError({ id, error }: Readonly<{ id: string; error: ReactNode }>) {
  if (!error) return null;
  return (
    <div id={`${id}-error`} className="text-bad text-small">
      {error}
    </div>
  );
}

/** The control must set `id`, `aria-describedby` (with `describedBy()`) and `aria-invalid`. */
export function FieldFrame({ id, label, hint, error, isOptional, aside, children }: FieldFrameProps) {
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <label htmlFor={id} className="font-medium">
          {label}
          {isOptional && <span className="font-normal text-muted text-small"> optional</span>}
        </label>
        {aside && <span className="text-small">{aside}</span>}
      </div>
      {children}
      <FieldError id={id} error={error} />
      {hint && (
        <p id={`${id}-hint`} className="text-muted text-small">
          {hint}
        </p>
      )}
    </div>
  );
}

export const handleRule = (
  <>
    Use letters, digits and single{" "}
    <span className="whitespace-nowrap">
      <code>.</code> <code>_</code> or <code>-</code>
    </span>{" "}
    between them.
  </>
);
