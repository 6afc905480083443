"use client";

import { LoaderCircle } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import { useFormStatus } from "react-dom";
import { type ButtonLook, buttonClass } from "./button.tsx";

export type SubmitButtonProps = ButtonLook &
  Readonly<{
    children: ReactNode;
    /** For a form with several buttons: what is sent when this one is pressed. */
    name?: string;
    value?: string;
    className?: string;
  }>;

/**
 * Sends the form around it and says so while it does. It stays focusable meanwhile (a disabled button would drop the
 * keyboard's place) and swallows further presses, so that a double click sends once.
 */
export function SubmitButton({ children, name, value, className, variant = "primary", size, isWide }: SubmitButtonProps) {
  const { pending, data } = useFormStatus();
  const isPressed = pending && (name === undefined || data?.get(name) === value);
  const swallow = (event: MouseEvent) => {
    if (pending) event.preventDefault();
  };
  return (
    <button
      type="submit"
      name={name}
      value={value}
      aria-disabled={pending || undefined}
      onClick={swallow}
      className={buttonClass({ variant, size, isWide }, className)}
    >
      {isPressed && <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />}
      {children}
      {isPressed && <span className="sr-only">, sending</span>}
    </button>
  );
}
