import { db } from "#core/db.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { plainIdentifier } from "./resource-servers.ts";

/** The credentials of a registered resource server, as the OAuth app that they are. */
export async function findResourceApp(identifier: string): Promise<OAuthApp | undefined> {
  const found = await db().oAuthResourceServer.findUnique({
    where: { identifier: plainIdentifier(identifier) },
    include: { app: true },
  });
  return found?.app;
}
