/** One that came, as the landing page lists it. What was refused says nothing of what it claimed to be. */
export type RecentDelivery = {
  at: Date;
  handler: string;
  id: string | undefined;
  event: string | undefined;
  repo: string | undefined;
  status: number;
  durationMs: number;
  isTest: boolean;
  isRepeated: boolean;
};

const KEPT_MAX = 50;

/** The last ones, the newest first. */
export class RecentDeliveries {
  readonly #kept: RecentDelivery[] = [];
  add(delivery: RecentDelivery): void {
    this.#kept.unshift(delivery);
    this.#kept.length = Math.min(this.#kept.length, KEPT_MAX);
  }
  list(): readonly RecentDelivery[] {
    return this.#kept;
  }
}
