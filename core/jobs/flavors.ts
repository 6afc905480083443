import { env } from "../env.ts";

export type Flavor = {
  name: string;
  cpus: number;
  memoryBytes: number;
};

export const flavors = (): readonly Flavor[] => env().JOBS_FLAVORS;

export function findFlavor(name: string): Flavor | undefined {
  return flavors().find((flavor) => flavor.name === name);
}
