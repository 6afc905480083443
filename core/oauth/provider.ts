import Provider from "oidc-provider";
import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { buildConfiguration } from "./configuration.ts";
import { watchEngine } from "./engine-events.ts";
import { loadSigningKeys, nextKeyChange, SIGNING_KEYS_CHANNEL } from "./keys.ts";
import { closeEngineGaps } from "./provider-internals.ts";

/**
 * The engine, one instance a process (architecture decision 7). It takes its signing keys when it is made; when they change,
 * a new instance takes over while requests that are under way finish with the old one.
 */
type State = { current?: Promise<Provider>; isWatched: boolean; timer?: NodeJS.Timeout };
const keeper = globalThis as typeof globalThis & { keyhookProvider?: State };

function state(): State {
  keeper.keyhookProvider ??= { isWatched: false };
  return keeper.keyhookProvider;
}

export function currentProvider(): Promise<Provider> {
  const now = state();
  now.current ??= build().catch((error) => {
    // A database that is away must not be remembered as the answer.
    now.current = undefined;
    throw error;
  });
  return now.current;
}

async function build(): Promise<Provider> {
  const provider = new Provider(env().ORIGIN, buildConfiguration(await loadSigningKeys()));
  // The process's own front door has set Host and X-Forwarded-* from ORIGIN and dropped what came from outside (S110).
  provider.proxy = true;
  closeEngineGaps(provider);
  watchEngine(provider);
  await watchKeys();
  return provider;
}

async function watchKeys(): Promise<void> {
  const now = state();
  const replace = () => {
    const previous = now.current;
    now.current = build().catch((error) => {
      log().error({ err: error }, "cannot load the new signing keys; the old ones stay in use");
      now.current = previous;
      return previous as Promise<Provider>;
    });
  };
  if (!now.isWatched) {
    now.isWatched = true;
    await listen(SIGNING_KEYS_CHANNEL, replace);
  }
  clearTimeout(now.timer);
  const change = await nextKeyChange();
  if (!change) return;
  // A timer's delay is a 32-bit number of milliseconds.
  now.timer = setTimeout(replace, Math.min(change.getTime() - Date.now() + 1_000, 2 ** 31 - 1)).unref();
}
