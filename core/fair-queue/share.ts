/** A caller gets a slot only while it holds fewer slots than are free (Choudhury and Hahne, dynamic thresholds). */
export class Share {
  readonly #slots: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  get taken(): number {
    return this.#taken;
  }

  admits(party: string, within: string | undefined, slots = 1): boolean {
    const free = this.#slots - this.#taken;
    if (free <= 0 || this.#heldBy(partyKey(party)) + slots > free) return false;
    if (within === undefined) return true;
    // A caller's work in one repository leaves slots for the caller's work in another.
    const own = this.#heldBy(bothKey(party, within));
    if (own > 0 && 2 * (own + 1) > free) return false;
    // Many addresses that ask for one repository leave slots for others.
    return this.#heldBy(withinKey(within)) <= free;
  }

  take(party: string, within: string | undefined, slots = 1): void {
    this.#add(party, within, slots);
  }

  giveBack(party: string, within: string | undefined, slots = 1): void {
    this.#add(party, within, -slots);
  }

  #add(party: string, within: string | undefined, change: number): void {
    this.#taken += change;
    this.#count(partyKey(party), change);
    if (within === undefined) return;
    this.#count(bothKey(party, within), change);
    this.#count(withinKey(within), change);
  }

  #heldBy(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  #count(key: string, change: number): void {
    const now = this.#heldBy(key) + change;
    if (now > 0) this.#held.set(key, now);
    else this.#held.delete(key);
  }
}

const partyKey = (party: string) => `p${party}`;
const withinKey = (within: string) => `w${within}`;
const bothKey = (party: string, within: string) => `b${party}\0${within}`;
