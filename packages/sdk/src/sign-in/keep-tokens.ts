import { ApiError } from "../client/api-error.ts";
import { refreshTokens } from "./refresh-tokens.ts";
import { SignInError } from "./sign-in-error.ts";
import type { AppOptions, Tokens } from "./tokens.ts";

export type KeptTokens = Pick<Tokens, "accessToken"> & Partial<Tokens>;

export type KeepTokensOptions = Omit<AppOptions, "signal"> & {
  /** The tokens as they are kept now. */
  read: () => KeptTokens | undefined | Promise<KeptTokens | undefined>;
  /** Keeps others in their place. It must have happened when this returns: the old ones are worth nothing any more. */
  write: (tokens: Tokens) => void | Promise<void>;
  /** Runs `work` while no other process does: a file lock, an advisory lock of the database. Within this process it is seen to. */
  lock?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
  /** How long before their end they are renewed. Default 60 s. */
  refreshBeforeSeconds?: number | undefined;
};

/**
 * A client's `token` which renews itself: `createClient({ baseUrl, token: keepTokens({ … }) })`.
 * @throws SignInError `invalid_grant`, `signed_out`: sign in again
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

  /** Under the lock, so that what is read is what the last one wrote. */
  async function renew(refused: string | undefined): Promise<string> {
    const tokens = await present();
    if (isGood(tokens, refused) || tokens.refreshToken === undefined) return tokens.accessToken;
    try {
      const fresh = await refreshTokens({ ...options, refreshToken: tokens.refreshToken });
      await write({ ...tokens, ...fresh });
      return fresh.accessToken;
    } catch (error) {
      // Somebody without the lock came first, and what they got is kept by now.
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
