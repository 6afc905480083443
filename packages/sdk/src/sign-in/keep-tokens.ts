import { ApiError } from "../client/api-error.ts";
import type { AppOptions } from "./service.ts";
import { SignInError } from "./sign-in-error.ts";
import { refreshTokens, type Tokens } from "./tokens.ts";

/** Stored tokens. Only `accessToken` is required. Without `refreshToken` the tokens cannot be renewed. @group Sign-in */
export type KeptTokens = Pick<Tokens, "accessToken"> & Partial<Tokens>;

/** Options of {@link keepTokens}. @group Sign-in */
export type KeepTokensOptions = Omit<AppOptions, "signal"> & {
  /** Reads the stored tokens; `undefined` if nobody is signed in. */
  read: () => KeptTokens | undefined | Promise<KeptTokens | undefined>;
  /** Replaces the stored tokens. They must be stored when it returns, because the old refresh token may be used up. */
  write: (tokens: Tokens) => void | Promise<void>;
  /** Runs `work` in one process at a time, with a file lock or an advisory lock of the database. A single process needs no lock. */
  lock?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
  /** The number of seconds before their expiry at which tokens are renewed. Default 60. */
  refreshBeforeSeconds?: number | undefined;
};

/**
 * Creates a `token` for {@link createClient} that renews itself: shortly before it expires, and after the service has refused it. In one
 * process, simultaneous calls share one renewal; with `lock`, several processes do. Without `lock`, a process whose renewal is too late
 * uses the tokens that another process has stored. While the service cannot be reached, the old token is used until it expires.
 * @param options The app, and the functions that read and store the tokens.
 * @returns A function that returns an access token; `refused` is a token that the service did not accept. The promise is rejected with
 * {@link SignInError} `signed_out` (there are no stored tokens) or `invalid_grant` (the sign-in has ended): sign in again. With
 * {@link ApiError} `network` or `timeout`, there was no response, and the old token has expired or was refused.
 * @see [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6) and
 *   [RFC 9700 §4.14](https://www.rfc-editor.org/rfc/rfc9700#section-4.14)
 * @example
 * ```ts
 * const token = keepTokens({ baseUrl, clientId, read: () => load(), write: (tokens) => save(tokens), lock: withFileLock });
 * const client = createClient({ baseUrl, token });
 * ```
 * @group Sign-in
 */
export function keepTokens(options: KeepTokensOptions): (asked?: { refused?: string }) => Promise<string> {
  const { read, write, refreshBeforeSeconds = 60 } = options;
  const lock = options.lock ?? (<T>(work: () => Promise<T>) => work());
  let underWay: Promise<string> | undefined;

  const isGood = ({ accessToken, expiresAt }: KeptTokens, refused?: string): boolean =>
    accessToken !== refused && (expiresAt === undefined || Date.parse(expiresAt) - Date.now() > refreshBeforeSeconds * 1000);

  async function present(): Promise<KeptTokens> {
    const tokens = await read();
    if (!tokens) throw new SignInError("Nobody is signed in. Sign in first.", { code: "signed_out" });
    return tokens;
  }

  /** Reads the tokens while holding the lock, to see what the previous holder stored. */
  async function renew(refused: string | undefined): Promise<string> {
    const tokens = await present();
    if (isGood(tokens, refused) || tokens.refreshToken === undefined) return tokens.accessToken;
    try {
      const fresh = await refreshTokens({ ...options, refreshToken: tokens.refreshToken });
      await write({ ...tokens, ...fresh });
      return fresh.accessToken;
    } catch (error) {
      // Another process without a lock may have renewed first.
      const now = await read();
      if (now && now.accessToken !== tokens.accessToken && isGood(now, refused)) return now.accessToken;
      const isLasting = tokens.expiresAt === undefined || Date.parse(tokens.expiresAt) > Date.now();
      const isAway = error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429);
      if (isAway && isLasting && tokens.accessToken !== refused) return tokens.accessToken;
      throw error;
    }
  }

  return async ({ refused } = {}) => {
    const tokens = await present();
    if (isGood(tokens, refused)) return tokens.accessToken;
    underWay ??= lock(() => renew(refused)).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
