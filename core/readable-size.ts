const UNITS = ["kB", "MB", "GB", "TB"] as const;

export function readableSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toLocaleString("en", { maximumFractionDigits: value < 99.95 ? 1 : 0 })} ${UNITS[unit]}`;
}
