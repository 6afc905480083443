const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** A size as people read it, in powers of 1000 as disks are sold: `0 B`, `1.2 kB`, `34 MB`. */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`;
}
