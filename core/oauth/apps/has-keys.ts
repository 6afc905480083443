import type { OAuthApp } from "../../generated/prisma/client.ts";

/** Whether an app proves itself with public keys, which take the place of secrets (docs/decisions/027). */
export const hasKeys = ({ jwks, jwksUri }: Pick<OAuthApp, "jwks" | "jwksUri">): boolean => jwks !== null || jwksUri !== null;
