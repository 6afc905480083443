import type { Context } from "hono";
import { consumeInBlocks, throttleKey } from "#core/accounts/throttle.ts";
import { env } from "#core/env.ts";
import { ServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { findPresented, type PresentedPlatform } from "#core/hub/platforms/platform.ts";

export function requirePlatform(c: Context): Promise<PresentedPlatform> {
  const known: Promise<PresentedPlatform> | undefined = c.get("platform");
  if (known) return known;
  // This function is called before the body is read and again by the route, but the request counts only once.
  const platform = findItsPlatform(c);
  c.set("platform", platform);
  return platform;
}

async function findItsPlatform(c: Context): Promise<PresentedPlatform> {
  const [, token] = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(c.req.header("Authorization") ?? "") ?? [];
  const platform = token && (await findPresented(token));
  if (!platform) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
  countAgainst({ kind: "platform", id: platform.id });
  await consumeInBlocks(throttleKey("platform", platform.id), { limit: env().PLATFORM_REQUESTS_PER_MINUTE, windowSeconds: 60 });
  return platform;
}
