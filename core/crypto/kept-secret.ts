import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { SettingsError } from "../env.ts";

const SECRET_BYTES = 48;

export function keptSecret(path: string): string {
  try {
    writeFileSync(path, `${randomBytes(SECRET_BYTES).toString("base64url")}\n`, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    chmodSync(path, 0o600); // a copy or a restored backup may have widened the mode
  }
  const secret = readFileSync(path, "utf8").trim();
  if (secret.length < 32)
    throw new SettingsError(
      `${path} is damaged and contains no secret. Restore the file from a copy of your own: the service's backups do not contain it.`,
    );
  return secret;
}
