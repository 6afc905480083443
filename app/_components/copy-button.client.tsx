"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { buttonClass } from "./button-class.ts";

type CopyButtonProps = Readonly<{
  value: string;
  label: string;
  children?: string;
}>;

const SHOWN_MS = 2_000;

export function CopyButton({ value, label, children }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  const Icon = isCopied ? Check : Copy;
  return (
    <>
      <button
        type="button"
        onClick={copy}
        {...(!children && { "aria-label": `Copy ${label}`, title: `Copy ${label}` })}
        className={buttonClass(children ? { size: "small" } : { variant: "quiet", size: "icon" }, "noscript:hidden")}
      >
        <Icon className="size-4" aria-hidden="true" />
        {children}
      </button>
      <span role="status" className="sr-only">
        {isCopied ? "Copied" : ""}
      </span>
    </>
  );
}
