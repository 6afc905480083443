import { statSync } from "node:fs";
import { env, loadSettingsFile, SettingsError } from "#core/env.ts";

/** Refuses root if DATA_DIR belongs to another user, who could not use root's files. @throws {SettingsError} */
export function loadSettings(): void {
  loadSettingsFile();
  const { DATA_DIR } = env();
  if (process.getuid?.() !== 0 || !statSync(DATA_DIR, { throwIfNoEntry: false })?.uid) return;
  throw new SettingsError(
    `You are root, and ${DATA_DIR} belongs to another user. Run the command as that user: runuser -u "$(stat -c %U ${DATA_DIR})" -- npm run admin -- …\n` +
      `If the service runs as root, make root its owner: chown root: ${DATA_DIR}`,
  );
}
