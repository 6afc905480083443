"use client";

import { useRouter } from "next/navigation";
import { startTransition, useEffect } from "react";

const EVERY_MS = 3_000;

/** Has a page drawn anew while something on it goes on, and only while somebody looks at it. */
export function RefreshWhile({ isOpen }: Readonly<{ isOpen: boolean }>) {
  const router = useRouter();
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") startTransition(() => router.refresh());
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isOpen, router]);
  return null;
}
