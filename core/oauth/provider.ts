import Provider from "oidc-provider";
import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { buildConfiguration } from "./configuration.ts";
import { watchEngine } from "./engine-events.ts";
import { registerTokenExchange } from "./exchange/register-token-exchange.ts";
import { loadSigningKeys, nextKeyChange, SIGNING_KEYS_CHANNEL } from "./keys.ts";
import { closeEngineGaps } from "./provider-internals.ts";

/**
 * The engine, one instance a process (ARCHITECTURE.md, Processes). It takes its signing keys when it is made; when they change,
 * a new instance takes over while requests that are under way finish with the old one.
 *
 * It is always made by the module that was loaded first, which is the server's: a bundle of Next that made it would have it find the
 * rows of the request (request-rows.ts) in the bundle's own instance of that module, and the server's requests leave them in another.
 */
type State = {
  build: () => Promise<Provider>;
  current?: Promise<Provider>;
  turn: number;
  isWatched: boolean;
  timer?: NodeJS.Timeout;
};
const keeper = globalThis as typeof globalThis & { keyhookProvider?: State };
keeper.keyhookProvider ??= { build, turn: 0, isWatched: false };
// Held from here on: what a test file leaves behind does not reach the engine of the next one, which has another address.
const state = keeper.keyhookProvider;
const RETRY_MS = 5_000;

export function currentProvider(): Promise<Provider> {
  state.current ??= state.build().catch((error) => {
    // A database that is away must not be remembered as the answer.
    state.current = undefined;
    throw error;
  });
  return state.current;
}

async function build(): Promise<Provider> {
  // First listen, then read: a change in between is heard.
  await watchKeys();
  const provider = new Provider(env().ORIGIN, buildConfiguration(await loadSigningKeys()));
  // The process's own front door has set Host and X-Forwarded-* from ORIGIN and dropped what came from outside (S110).
  provider.proxy = true;
  closeEngineGaps(provider);
  registerTokenExchange(provider);
  watchEngine(provider);
  await replaceAtNextChange();
  return provider;
}

/** Requests are answered by the present instance until the next one is complete; of several under way the last one asked for counts. */
function replace(): void {
  state.turn += 1;
  const { turn } = state;
  state.build().then(
    (provider) => {
      if (turn === state.turn) state.current = Promise.resolve(provider);
    },
    (error) => {
      log().error({ err: error }, "cannot load the signing keys anew; those at hand stay in use");
      if (turn === state.turn) setTimeout(replace, RETRY_MS).unref();
    },
  );
}

async function watchKeys(): Promise<void> {
  if (state.isWatched) return;
  state.isWatched = true;
  let isFirstConnection = true;
  await listen(SIGNING_KEYS_CHANNEL, () => {
    if (!isFirstConnection) replace();
  });
  isFirstConnection = false;
}

async function replaceAtNextChange(): Promise<void> {
  const change = await nextKeyChange();
  clearTimeout(state.timer);
  if (!change) return;
  // A timer's delay is a 32-bit number of milliseconds.
  state.timer = setTimeout(replace, Math.min(Math.max(change.getTime() - Date.now(), 0) + 1_000, 2 ** 31 - 1)).unref();
}
