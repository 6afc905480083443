import { env } from "../env.ts";

/** The size of the machine that a job requests. */
export type Flavor = {
  /** The name as in the spec: `cpu-basic`. */
  name: string;
  cpus: number;
  memoryBytes: number;
};

/** The flavors that the operator offers (JOBS_FLAVORS), the standard one first. */
export const flavors = (): readonly Flavor[] => env().JOBS_FLAVORS;

export function findFlavor(name: string): Flavor | undefined {
  return flavors().find((flavor) => flavor.name === name);
}
