const UNITS = ["kB", "MB", "GB", "TB"] as const;

/** `0 bytes`, `1 byte`, `12.3 kB`: a readable size, in powers of 1,000. */
export function readableSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const exponent = Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length);
  const value = bytes / 1000 ** exponent;
  return `${value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 })} ${UNITS[exponent - 1]}`;
}
