import type { ReactNode } from "react";
import { SubmitButton, type SubmitButtonProps } from "./action-form.client.tsx";
import { ButtonLink } from "./button.tsx";

export function FormButtons({ cancelHref, ...submit }: SubmitButtonProps & Readonly<{ cancelHref: string }>) {
  return (
    <div className="flex flex-wrap gap-3">
      <SubmitButton {...submit} />
      <ButtonLink href={cancelHref}>Cancel</ButtonLink>
    </div>
  );
}

/** For a button that grants something: the second press of a double click on another site must not land on it (S25). */
export function PressGuard({ children }: Readonly<{ children: ReactNode }>) {
  return (
    <div className="relative">
      {children}
      <span className="press-guard" aria-hidden="true" />
    </div>
  );
}
