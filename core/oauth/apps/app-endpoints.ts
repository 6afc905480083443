import { env } from "../../env.ts";
import { protocolRoutes } from "../protocol-routes.ts";

/** The URLs that an app's developer needs. A client library finds all of them from the issuer alone. */
export type AppEndpoints = {
  issuer: string;
  discovery: string;
  authorization: string;
  token: string;
  userinfo: string;
  jwks: string;
  deviceAuthorization: string;
  /** The page where users enter a code. */
  codeVerification: string;
};

export function appEndpoints(): AppEndpoints {
  const { ORIGIN } = env();
  return {
    issuer: ORIGIN,
    discovery: `${ORIGIN}/.well-known/openid-configuration`,
    authorization: ORIGIN + protocolRoutes.authorization,
    token: ORIGIN + protocolRoutes.token,
    userinfo: ORIGIN + protocolRoutes.userinfo,
    jwks: ORIGIN + protocolRoutes.jwks,
    deviceAuthorization: ORIGIN + protocolRoutes.device_authorization,
    codeVerification: ORIGIN + protocolRoutes.code_verification,
  };
}
