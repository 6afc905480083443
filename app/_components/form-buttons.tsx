import type { ReactNode } from "react";
import { SubmitButton, type SubmitButtonProps } from "./action-form.client.tsx";
import { ButtonLink } from "./button.tsx";

type FormButtonsProps = SubmitButtonProps & Readonly<{ cancelHref: string; isGuarded?: boolean }>;

export function FormButtons({ cancelHref, isGuarded, ...submit }: FormButtonsProps) {
  const button = <SubmitButton {...submit} />;
  return (
    <div className="flex flex-wrap gap-3">
      {isGuarded ? <PressGuard>{button}</PressGuard> : button}
      <ButtonLink href={cancelHref}>Cancel</ButtonLink>
    </div>
  );
}

/** For a button that grants something. The second press of a double click on another site must not press this button (S25). */
export function PressGuard({ children }: Readonly<{ children: ReactNode }>) {
  return (
    <div className="relative">
      {children}
      <span className="press-guard" aria-hidden="true" />
    </div>
  );
}
