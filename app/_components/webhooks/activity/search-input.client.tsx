"use client";

import { useRouter } from "next/navigation";
import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useRef } from "react";

/** Follows the URL unless the field has the focus, so that a late response does not undo typing. */
export function SearchInput({
  value,
  ...input
}: Omit<ComponentProps<"input">, "value" | "defaultValue"> & Readonly<{ value: string }>) {
  const line = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (line.current && document.activeElement !== line.current) line.current.value = value;
  }, [value]);
  return <input ref={line} type="search" defaultValue={value} {...input} />;
}

type SendOnChangeProps = Readonly<{
  /** The fields become the query of this URL. */
  action: string;
  className?: string;
  children: ReactNode;
}>;

const PAUSE_MS = 350;

/** Without JavaScript the form has a button. */
export function SendOnChange({ action, className, children }: SendOnChangeProps) {
  const router = useRouter();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const send = (form: HTMLFormElement) => {
    clearTimeout(timer.current);
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string" && value !== "") query.append(name, value);
    router.replace(query.size > 0 ? `${action}?${query}` : action, { scroll: false });
  };
  const onChange = ({ currentTarget: form, target }: FormEvent<HTMLFormElement>) => {
    clearTimeout(timer.current);
    if (target instanceof HTMLSelectElement) send(form);
    else timer.current = setTimeout(() => send(form), PAUSE_MS);
  };
  return (
    <form
      action={action}
      className={className}
      onChange={onChange}
      onSubmit={(event) => {
        event.preventDefault();
        send(event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}
