import * as oauth from "oauth4webapi";
import { z } from "zod";
import { orAborted } from "../client/answers.ts";
import { createTransport } from "../client/transport.ts";
import { asSignInError, SignInError } from "./sign-in-error.ts";

/**
 * The URL of the service, and options for requests to it. Every function of the sign-in that sends requests takes these options.
 * @group Sign-in
 */
export type ServiceOptions = {
  /**
   * The service's issuer, `https://hub.example.com`. If it begins with `http:`, as on a developer's own machine, the endpoints may be
   * `http:` too.
   */
  baseUrl: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Ends the wait. The promise is then rejected with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The time limit of each request, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** Precedes the SDK's own name in the `User-Agent` header. */
  userAgent?: string | undefined;
};

/** An OAuth app. A public app has no secret. @group Sign-in */
export type AppOptions = ServiceOptions & {
  /** The app's client ID. */
  clientId: string;
  /** The secret of a confidential app. It is sent as HTTP Basic (RFC 6749 §2.3.1). Never ship it to a browser. */
  clientSecret?: string | undefined;
};

const webAddress = z.url({ protocol: /^https?$/ });

const metadataSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: webAddress,
  token_endpoint: webAddress,
  jwks_uri: webAddress,
  userinfo_endpoint: webAddress.optional(),
  device_authorization_endpoint: webAddress.optional(),
  revocation_endpoint: webAddress.optional(),
  end_session_endpoint: webAddress.optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
/**
 * The service's discovery document. It contains everything that the service sends. Only the fields that the SDK uses have a type.
 * @group Sign-in @useDeclaredType
 */
export type ServiceMetadata = z.infer<typeof metadataSchema>;

const KEPT_MS = 60 * 60 * 1000;
const kept = /* @__PURE__ */ new Map<string, { metadata: Promise<ServiceMetadata>; until: number }>();

/**
 * Reads the service's endpoints from `/.well-known/openid-configuration`. The response is kept for an hour. The other functions
 * of the sign-in call this function themselves. You need it only for a value of the document.
 * @param options `baseUrl` is the issuer. A slash at the end is ignored.
 * @returns The document.
 * @throws {@link SignInError} `issuer_mismatch`: the document names another issuer than `baseUrl`.
 * @throws {@link ApiError} `unexpected_answer`: there is no such document at `baseUrl`; `network` or `timeout`: there was no response.
 * @see [OpenID Connect Discovery 1.0 §4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)
 * @see [RFC 8414 §3](https://www.rfc-editor.org/rfc/rfc8414#section-3)
 * @group Sign-in
 */
export function discover({ baseUrl, signal, ...service }: ServiceOptions): Promise<ServiceMetadata> {
  const issuer = baseUrl.replace(/(?<!\/)\/+$/, "");
  let known = kept.get(issuer);
  if (!known || known.until <= Date.now()) {
    known = { metadata: readMetadata(issuer, service), until: Date.now() + KEPT_MS };
    kept.set(issuer, known);
    known.metadata.catch(() => kept.delete(issuer));
  }
  return orAborted(known.metadata, signal);
}

async function readMetadata(issuer: string, service: Omit<ServiceOptions, "baseUrl" | "signal">): Promise<ServiceMetadata> {
  const { request } = createTransport({ baseUrl: issuer, ...service });
  const metadata = await request("GET", "/.well-known/openid-configuration", { schema: metadataSchema });
  // RFC 8414 §3.3: a service that pretends to be another issuer would get that issuer's codes and tokens (RFC 9700 §4.4).
  if (metadata.issuer !== issuer) {
    throw new SignInError(`The service at ${issuer} identifies itself as ${metadata.issuer}. Use that as baseUrl.`, {
      code: "issuer_mismatch",
    });
  }
  return metadata;
}

/** The arguments of every function of oauth4webapi. */
export type Connection = {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  authentication: oauth.ClientAuth;
  http: oauth.HttpRequestOptions<"GET" | "POST", URLSearchParams | undefined>;
};

/** The accepted difference between two clocks, in seconds. */
export const TOLERANCE_SECONDS = 60;
/** oauth4webapi requires a client ID even for requests without a client. This one is not sent. */
const NO_CLIENT = "none";

/** oauth4webapi builds and checks the messages. The SDK's transport sends them, with the API's limits, retries and errors. */
export async function connect(
  app: ServiceOptions & { clientId?: string; clientSecret?: string | undefined },
): Promise<Connection> {
  const { baseUrl, clientId, clientSecret } = app;
  const metadata = await discover(app);
  const client = { client_id: clientId ?? NO_CLIENT, [oauth.clockTolerance]: TOLERANCE_SECONDS };
  const asClient = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
  return {
    as: serverOf(metadata),
    client,
    authentication: clientId === undefined ? () => undefined : asClient,
    http: {
      [oauth.customFetch]: fetchThrough(app),
      // A discovery document that was read over HTTPS must not send codes, secrets and keys over plain HTTP.
      [oauth.allowInsecureRequests]: new URL(baseUrl).protocol === "http:",
    },
  };
}

/** The object is reused, because oauth4webapi keeps the service's keys with this object. */
const servers = /* @__PURE__ */ new WeakMap<ServiceMetadata, oauth.AuthorizationServer>();

function serverOf(metadata: ServiceMetadata): oauth.AuthorizationServer {
  let server = servers.get(metadata);
  if (!server) {
    // The SDK chooses the algorithms. With `none`, or with HMAC by the public key, tokens can be forged (RFC 8725 §2.1).
    server = { ...(metadata as oauth.AuthorizationServer), id_token_signing_alg_values_supported: ["RS256", "ES256"] };
    servers.set(metadata, server);
  }
  return server;
}

function fetchThrough({ fetch, timeoutMs, userAgent, signal }: ServiceOptions) {
  return async (
    url: string,
    { method, body, headers }: oauth.CustomFetchOptions<"GET" | "POST", URLSearchParams | undefined>,
  ): Promise<Response> => {
    const { origin, pathname, search } = new URL(url);
    const transport = createTransport({ baseUrl: origin, fetch, timeoutMs, userAgent });
    const { "user-agent": _, ...sent } = headers;
    try {
      const value = await transport.request(method, pathname + search, { body: body ?? undefined, headers: sent, signal });
      return new Response(value === undefined ? undefined : JSON.stringify(value));
    } catch (error) {
      throw method === "POST" ? asSignInError(error) : error;
    }
  };
}
