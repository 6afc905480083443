import { isIP } from "node:net";
import { z } from "zod";

/** Each error message completes a sentence that begins with the setting's name. */

function isAddressRange(entry: string): boolean {
  const [address = "", prefix, ...rest] = entry.split("/");
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
}

export function url(protocols: string[], message: string) {
  return z.string().refine((text) => {
    const parsed = URL.parse(text);
    return parsed !== null && protocols.includes(parsed.protocol) && parsed.hostname !== "";
  }, message);
}

export const like = (pattern: RegExp, message: string) => z.string().regex(pattern, message);

const parts = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
const list = (standard = "") => z.string().default(standard).transform(parts);

export const postgresUrl = url(["postgres:", "postgresql:"], "must be a postgres:// or postgresql:// URL");

export const cidrList = list().refine((list) => list.every(isAddressRange), {
  message: "must be a comma-separated list of IP addresses or CIDR ranges, such as 10.0.0.0/8,192.168.1.4",
});

export const origin = z
  .string()
  .optional()
  .superRefine((text, context) => {
    if (text === undefined) return;
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) {
      context.addIssue({ code: "custom", message: "must be an http or https URL, such as https://keyhook.example.com" });
    } else if (url.href !== `${url.origin}/` || url.username) {
      context.addIssue({ code: "custom", message: `must be a bare origin without a path, such as ${url.origin}` });
    }
  })
  .transform((text) => (text === undefined ? undefined : new URL(text).origin));

export function wholeNumber(least: number, most: number) {
  const reason = `must be a whole number between ${least} and ${most}`;
  return z.coerce.number(reason).int(reason).min(least, reason).max(most, reason);
}

export const port = wholeNumber(1, 65_535);
export const secret = z.string().min(32, "must have at least 32 characters; `openssl rand -base64 48` generates one");
export const mebibytes = wholeNumber(1, 1_000_000);
export const flag = z.enum(["0", "1"], { error: "must be 0 or 1" });

export const flavorList = z
  .string()
  .default("cpu-basic=2x2,cpu-upgrade=4x8")
  .transform((text, context) => {
    const flavors = text.split(",").map((part) => {
      const [, name = "", cpus, gibibytes] = /^([a-z0-9-]{1,40})=(\d{1,3}(?:\.\d)?)x(\d{1,4}(?:\.\d)?)$/.exec(part.trim()) ?? [];
      return { name, cpus: Number(cpus), memoryBytes: Number(gibibytes) * 1024 ** 3 };
    });
    if (flavors.every(({ name, cpus, memoryBytes }) => name && cpus > 0 && memoryBytes > 0)) return flavors;
    const message = "must be a comma-separated list of names with CPUs and GiB of memory, such as cpu-basic=2x2,cpu-upgrade=4x8";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

export const uidRange = z
  .string()
  // systemd leaves these UIDs unused.
  .default("60706-61183")
  .transform((text, context) => {
    const [first = 0, last = 0] = (/^(\d{4,9})-(\d{4,9})$/.exec(text.trim()) ?? []).slice(1).map(Number);
    if (first >= 1000 && last >= first) return { first, last };
    context.addIssue({
      code: "custom",
      message: "must be a range of unused user IDs of at least 1000, such as 60706-61183",
    });
    return z.NEVER;
  });

export const nameList = (standard: string) => list(standard).transform((names) => names.filter((name) => name !== "none"));
