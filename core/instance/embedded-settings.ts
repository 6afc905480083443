import { join } from "node:path";
import { keptSecret } from "../crypto/kept-secret.ts";
import { type Env, env } from "../env.ts";
import type { EmbeddedUrls } from "../postgres/embedded.ts";

/** Settings that an installation with an embedded database finds out at run time: its URL, and the key that it generated. */
export function embeddedSettings(dataDir: string, { url, ownerUrl }: EmbeddedUrls): Partial<Record<keyof Env, string>> {
  return {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    KEYHOOK_EMBEDDED: "1",
    SECRET_KEY: env().SECRET_KEY ?? keptSecret(join(dataDir, "secret-key")),
  };
}
