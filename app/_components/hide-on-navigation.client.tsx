"use client";

import { usePathname } from "next/navigation";
import { useEffect } from "react";

/** Closes a popover when a link in it was followed: the layout around it stays while the page below changes. */
export function HideOnNavigation({ popoverId }: Readonly<{ popoverId: string }>) {
  const path = usePathname();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is the event, not an input
  useEffect(() => {
    document.getElementById(popoverId)?.hidePopover();
  }, [path, popoverId]);
  return null;
}
