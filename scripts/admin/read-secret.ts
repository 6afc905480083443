import { text } from "node:stream/consumers";

/** A secret given on the command line, or read from standard input when it was given as `-`. */
export async function readSecret(value: string): Promise<string> {
  if (value !== "-") return value;
  return (await text(process.stdin)).replace(/\r?\n$/, "");
}
