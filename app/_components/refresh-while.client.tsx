"use client";

import { useRouter } from "next/navigation";
import { startTransition, useEffect } from "react";

/** Refreshes the page at an interval while it is visible, for content that changes by itself. */
export function RefreshWhile({ seconds }: Readonly<{ seconds: number }>) {
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") startTransition(() => router.refresh());
    }, seconds * 1_000);
    return () => clearInterval(timer);
  }, [router, seconds]);
  return null;
}
