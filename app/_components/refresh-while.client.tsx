"use client";

import { useRouter } from "next/navigation";
import { startTransition, useEffect } from "react";

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
