import { ServiceError } from "../errors.ts";

type Limits = {
  /** Of one person on one web process, and of all of them together. */
  perPerson: number;
  inAll: number;
  /** To whoever gets no place. */
  sentence: string;
  retryAfterSeconds: number;
};

/**
 * Places for answers that do not end: each holds a connection.
 * @returns takes one; what that returns gives it back, however often it is called. It throws ServiceError `rate_limited`.
 */
export function streamPlaces({ perPerson, inAll, sentence, retryAfterSeconds }: Limits): (person: string) => () => void {
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
