import { env } from "../env.ts";

export type Flavor = {
  /** For example `cpu-basic`. */
  name: string;
  cpus: number;
  memoryBytes: number;
};

/** The standard flavor is first. */
export const flavors = (): readonly Flavor[] => env().JOBS_FLAVORS;

export function findFlavor(name: string): Flavor | undefined {
  return flavors().find((flavor) => flavor.name === name);
}
