import type { OAuthApp } from "../../generated/prisma/client.ts";

/** Whether an app authenticates with public keys, which replace secrets (docs/decisions/027). */
export const hasKeys = ({ jwks, jwksUri }: Pick<OAuthApp, "jwks" | "jwksUri">): boolean => jwks !== null || jwksUri !== null;
