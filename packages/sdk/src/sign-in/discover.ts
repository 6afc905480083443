import { z } from "zod";
import { orAborted } from "../client/or-aborted.ts";
import { createTransport, type Transport } from "../client/transport.ts";
import { SignInError } from "./sign-in-error.ts";

/** Where the service is, and how it is reached. */
export type ServiceOptions = {
  /** Of the service: its issuer, `https://hub.example.com`. */
  baseUrl: string;
  fetch?: typeof fetch | undefined;
  signal?: AbortSignal | undefined;
  /** Of each request. Default 30,000. */
  timeoutMs?: number | undefined;
  userAgent?: string | undefined;
};

const address = z.url({ protocol: /^https?$/ });

/** What is used of the document; the rest of it is kept as it is. */
const metadataSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  device_authorization_endpoint: address.optional(),
  revocation_endpoint: address.optional(),
  end_session_endpoint: address.optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
export type ServiceMetadata = z.infer<typeof metadataSchema>;

const KEPT_MS = 60 * 60 * 1000;
const kept = /* @__PURE__ */ new Map<string, { metadata: Promise<ServiceMetadata>; until: number }>();

/**
 * The service's endpoints, kept for an hour.
 * @throws SignInError `issuer_mismatch` where the document is somebody else's; ApiError where there is none
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig and https://www.rfc-editor.org/rfc/rfc8414#section-3
 */
export function discover({ baseUrl, signal, ...service }: ServiceOptions): Promise<ServiceMetadata> {
  const issuer = baseUrl.replace(/(?<!\/)\/+$/, "");
  let known = kept.get(issuer);
  if (!known || known.until <= Date.now()) {
    known = { metadata: read(issuer, service), until: Date.now() + KEPT_MS };
    kept.set(issuer, known);
    known.metadata.catch(() => kept.delete(issuer));
  }
  return orAborted(known.metadata, signal);
}

async function read(issuer: string, service: Omit<ServiceOptions, "baseUrl" | "signal">): Promise<ServiceMetadata> {
  const { request } = createTransport({ baseUrl: issuer, ...service });
  const metadata = await request("GET", "/.well-known/openid-configuration", { schema: metadataSchema });
  // Compared as it is written: whoever passes for another issuer gets its codes and tokens (RFC 9700 §4.4).
  if (metadata.issuer !== issuer) {
    throw new SignInError(`The service at ${issuer} calls itself ${metadata.issuer}. Use that as baseUrl.`, {
      code: "issuer_mismatch",
    });
  }
  return metadata;
}

/** A transport to where an endpoint is, and its path there. */
export function endpointAt(url: string, { fetch, timeoutMs, userAgent }: ServiceOptions): { transport: Transport; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { transport: createTransport({ baseUrl: origin, fetch, timeoutMs, userAgent }), path: pathname + search };
}
