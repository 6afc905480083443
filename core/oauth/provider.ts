import Provider from "oidc-provider";
import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { buildConfiguration } from "./configuration.ts";
import { watchEngine } from "./engine-events.ts";
import { registerTokenExchange } from "./exchange/exchange-token.ts";
import { closeEngineGaps } from "./provider-internals.ts";
import { loadSigningKeys, nextKeyChange, SIGNING_KEYS_CHANNEL } from "./signing-keys.ts";

/** Only the server's module instance creates engines: a Next bundle has a request-rows.ts of its own (ARCHITECTURE.md). */
type State = {
  build: () => Promise<Provider>;
  current?: Promise<Provider>;
  turn: number;
  isWatched: boolean;
  timer?: NodeJS.Timeout;
};
const keeper = globalThis as typeof globalThis & { keyhookProvider?: State };
keeper.keyhookProvider ??= { build, turn: 0, isWatched: false };
// In tests, files share `globalThis`, and the engine of one file must never use the state of the next.
const state = keeper.keyhookProvider;
const RETRY_MS = 5_000;

export function currentProvider(): Promise<Provider> {
  state.current ??= state.build().catch((error) => {
    // A failure, such as a lost database connection, is not cached.
    state.current = undefined;
    throw error;
  });
  return state.current;
}

async function build(): Promise<Provider> {
  // Listens before it reads, so that no change in between is missed.
  await watchKeys();
  const provider = new Provider(env().ORIGIN, buildConfiguration(await loadSigningKeys()));
  // `pinHost` derives Host and X-Forwarded-* from ORIGIN (S110).
  provider.proxy = true;
  closeEngineGaps(provider);
  registerTokenExchange(provider);
  watchEngine(provider);
  await replaceAtNextChange();
  return provider;
}

function replace(): void {
  state.turn += 1;
  const { turn } = state;
  state.build().then(
    (provider) => {
      if (turn === state.turn) state.current = Promise.resolve(provider);
    },
    (error) => {
      log().error({ err: error }, "cannot reload the signing keys; the current ones stay in use");
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
  state.timer = setTimeout(replace, Math.min(Math.max(change.getTime() - Date.now(), 0) + 1_000, 2 ** 31 - 1)).unref();
}
