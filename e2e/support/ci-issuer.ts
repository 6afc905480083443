import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { Demo } from "./demo.ts";

export type CiIssuer = {
  issuer: string;
  /** A job's ID token for the demo. */
  sign: (claims: JWTPayload) => Promise<string>;
  close: () => Promise<void>;
};

/** A provider of continuous integration at the demo's own host: discovery, a key set, and tokens for its jobs. */
export async function startCiIssuer({ certificates, origin }: Demo): Promise<CiIssuer> {
  const [cert, key] = ["certificate.pem", "key.pem"].map((name) => readFileSync(join(certificates.sample, name)));
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
  const server = createServer({ cert, key }, ({ url }, response) => {
    const body = url === "/keys" ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A screen that shows it has no end of its own at which to stop it.
  server.unref();
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(issuer)
        .setAudience(origin)
        .setSubject("job")
        .setIssuedAt()
        .setExpirationTime("5 minutes")
        .setJti(crypto.randomUUID())
        .sign(privateKey),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
