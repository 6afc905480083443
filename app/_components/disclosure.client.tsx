"use client";

import { type ReactNode, useEffect, useRef, useState } from "react";
import { type ButtonLook, buttonClass } from "./button-class.ts";

type DisclosureProps = Readonly<{
  trigger: ReactNode;
  look?: ButtonLook;
  triggerClass?: string;
  isOpen?: boolean;
  className?: string;
  children: ReactNode;
}>;

/** Works without JavaScript. A click elsewhere closes the content only while no field has changed. */
export function Disclosure({ trigger, look = {}, triggerClass, isOpen, className, children }: DisclosureProps) {
  const details = useRef<HTMLDetailsElement>(null);
  // A refusal opens the content. Typing then removes the message, but must not close the content.
  const [wasOpened, setOpened] = useState(isOpen);
  if (isOpen && !wasOpened) setOpened(true);

  useEffect(() => {
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key === "Escape" && details.current?.open) close(details.current);
    };
    const closeOnClick = (event: MouseEvent) => {
      const element = details.current;
      if (element?.open && !event.composedPath().includes(element) && !isFilledIn(element)) element.open = false;
    };
    document.addEventListener("keydown", closeOnEscape);
    document.addEventListener("click", closeOnClick);
    return () => {
      document.removeEventListener("keydown", closeOnEscape);
      document.removeEventListener("click", closeOnClick);
    };
  }, []);

  return (
    <details ref={details} name="disclosure" open={wasOpened} className={className}>
      <summary className={buttonClass(look, triggerClass)}>{trigger}</summary>
      {children}
    </details>
  );
}

export function CancelButton({ size, isWide }: Pick<ButtonLook, "size" | "isWide">) {
  return (
    <button
      type="reset"
      className={buttonClass({ size, isWide }, "noscript:hidden")}
      onClick={({ currentTarget }) => close(currentTarget.closest("details"))}
    >
      Cancel
    </button>
  );
}

function close(details: HTMLDetailsElement | null) {
  if (!details) return;
  details.open = false;
  details.querySelector("summary")?.focus();
}

function isFilledIn(details: HTMLDetailsElement): boolean {
  return [...details.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")].some(
    (field) =>
      field.value !== field.defaultValue || (field instanceof HTMLInputElement && field.checked !== field.defaultChecked),
  );
}
