import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { keptSecret } from "#core/crypto/kept-secret.ts";
import { env, provideSettings } from "#core/env.ts";
import { findEmbedded, startEmbedded } from "#core/postgres/embedded.ts";
import { migrate } from "#core/postgres/migrate.ts";

/** Until core/instance lands. */
export async function openInstance(): Promise<{ close(): Promise<void> }> {
  const { DATA_DIR, DATABASE_URL } = env();
  if (DATABASE_URL) {
    await migrate(DATABASE_URL);
    return { close: async () => undefined };
  }
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
  const running = findEmbedded(DATA_DIR);
  const started = running ? undefined : await startEmbedded(DATA_DIR);
  const settings = provideSettings({
    DATABASE_URL: running ?? started?.url,
    SECRET_KEY: env().SECRET_KEY ?? keptSecret(join(DATA_DIR, "secret-key")),
  });
  await migrate(settings.DATABASE_URL as string);
  return { close: async () => started?.stop() };
}
