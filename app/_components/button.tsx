import Link from "next/link";
import type { ComponentProps } from "react";
import { type ButtonLook, buttonClass } from "./button-class.ts";

export { type ButtonLook, buttonClass };

type ButtonProps = ComponentProps<"button"> & ButtonLook;

export function Button({ variant, size, isWide, className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={buttonClass({ variant, size, isWide }, className)} {...rest} />;
}

type ButtonLinkProps = ComponentProps<typeof Link> & ButtonLook;

export function ButtonLink({ variant, size, isWide, className, ...rest }: ButtonLinkProps) {
  return <Link prefetch={false} className={buttonClass({ variant, size, isWide }, className)} {...rest} />;
}
