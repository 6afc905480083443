"use client";

import { type ReactNode, useEffect, useRef, useState } from "react";
import { type ButtonLook, buttonClass } from "./button-class.ts";

type DisclosureProps = Readonly<{
  /** The button that opens and closes the content. Its text never changes. */
  trigger: ReactNode;
  look?: ButtonLook;
  triggerClass?: string;
  /** Whether the content is open at first, for example after a refusal. */
  isOpen?: boolean;
  className?: string;
  /** One element. */
  children: ReactNode;
}>;

/**
 * A question, a form or a menu that opens below its button, also without JavaScript. At most one is open at a time. Escape and
 * `CancelButton` close it, and so does a click elsewhere unless something was filled in.
 */
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

/** Closes the `Disclosure` around it, and resets what was filled in. Without JavaScript, its trigger closes it. */
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
