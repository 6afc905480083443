import { env } from "../env.ts";

/** How large a machine a job asks for. */
export type Flavor = {
  /** As written in the spec: `cpu-basic`. */
  name: string;
  cpus: number;
  memoryBytes: number;
};

/** The flavors that the operator offers (JOBS_FLAVORS), the standard one first. */
export const flavors = (): readonly Flavor[] => env().JOBS_FLAVORS;

export function findFlavor(name: string): Flavor | undefined {
  return flavors().find((flavor) => flavor.name === name);
}
