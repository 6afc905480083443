import { ServiceError } from "../errors.ts";

type Limits = {
  perPerson: number;
  inAll: number;
  sentence: string;
  retryAfterSeconds: number;
};

/** @returns a function that takes a slot. Its result releases the slot, and may be called several times. */
export function streamSlots({ perPerson, inAll, sentence, retryAfterSeconds }: Limits): (person: string) => () => void {
  const open = new Map<string, number>();
  let openInAll = 0;
  return (person) => {
    const theirs = open.get(person) ?? 0;
    if (theirs >= perPerson || openInAll >= inAll) throw new ServiceError("rate_limited", sentence, { retryAfterSeconds });
    open.set(person, theirs + 1);
    openInAll += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      openInAll -= 1;
      const left = (open.get(person) ?? 1) - 1;
      if (left > 0) open.set(person, left);
      else open.delete(person);
    };
  };
}
