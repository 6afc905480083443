import { useLayoutEffect, useState } from "react";

type Typed = Pick<HTMLTextAreaElement, "value" | "selectionStart" | "selectionEnd">;

/**
 * Keeps what somebody typed into a text area of the server's page before its scripts were there. React leaves inputs alone when it
 * takes such a page over, but gives a text area its first value again, while somebody may be in the middle of a sentence.
 */
export function useTypedBefore(id: string): void {
  // Read while this renders: by the time of an effect it is overwritten. On pages made in the browser there is no such element yet.
  const [typed] = useState(() => readTyped(id));
  useLayoutEffect(() => {
    const area = typed && find(id);
    if (!area) return;
    // Typed since then: newer than what was read.
    if (area.value !== area.defaultValue) return;
    // Nothing had been typed or chosen, though something may have been chosen since.
    if (typed.value === area.value && typed.selectionEnd === 0) return;
    if (typed.value !== area.value) area.value = typed.value;
    area.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  }, [id, typed]);
}

function readTyped(id: string): Typed | undefined {
  const area = typeof document === "undefined" ? undefined : find(id);
  return area && { value: area.value, selectionStart: area.selectionStart, selectionEnd: area.selectionEnd };
}

function find(id: string): HTMLTextAreaElement | undefined {
  const element = document.getElementById(id);
  return element instanceof HTMLTextAreaElement ? element : undefined;
}
