export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export function waitInWords(seconds: number): string {
  if (seconds <= 90) return counted(seconds, "second");
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90 ? counted(minutes, "minute") : counted(Math.ceil(minutes / 60), "hour");
}
