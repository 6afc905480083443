import { readFile } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { environment } from "../environment.ts";

/** Of `keyhook login`, where the command line keeps them: by origin, in the system's folder for settings. Never written here. */
export async function readCredentials(): Promise<Record<string, { accessToken: string }>> {
  try {
    return JSON.parse(await readFile(join(configFolder(), "credentials.json"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Error(`The credentials of keyhook login cannot be read: ${(error as Error).message}. Set KEYHOOK_TOKEN instead.`);
  }
}

function configFolder(): string {
  const named = environment.configDir();
  if (named) return named;
  if (platform() === "darwin") return join(homedir(), "Library", "Preferences", "keyhook");
  if (platform() === "win32") return join(environment.appData() ?? join(homedir(), "AppData", "Roaming"), "keyhook", "Config");
  return join(environment.configHome() ?? join(homedir(), ".config"), "keyhook");
}
