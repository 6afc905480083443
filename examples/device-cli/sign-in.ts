import * as client from "openid-client";

/** Exit codes and sentences, by the error with which the sign-in fails. */
const FAILURES: Record<string, [exitCode: number, sentence: string]> = {
  access_denied: [3, "The sign-in was refused. Nothing was shared."],
  expired_token: [4, "The code expired before the sign-in was completed. Run this again to get a new one."],
  OAUTH_TIMEOUT: [4, "The code expired before the sign-in was completed. Run this again to get a new one."],
  unauthorized_client: [2, "This app may not use the device flow. Allow it in the app's settings."],
  invalid_client: [2, "This app does not exist. Check CLIENT_ID."],
};

type Organization = { sub: string; name: string; roleInOrg?: string };

async function signIn(issuer: URL, clientId: string, scope: string): Promise<void> {
  // The requests contain tokens, so plain http must never leave this machine.
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(issuer.hostname);
  const execute = isLoopback ? [client.allowInsecureRequests] : [];
  const config = await client.discovery(issuer, clientId, undefined, client.None(), { execute });

  // 1. Request a code, and show it. A program with graphics would show `verification_uri_complete` as a QR code.
  const device = await client.initiateDeviceAuthorization(config, { scope });
  console.log(`To sign in, open this address in a browser, on this or any other device:

    ${device.verification_uri}

and enter the code

    ${device.user_code}

or open ${device.verification_uri_complete ?? device.verification_uri} and compare it.
Waiting for ${Math.round(device.expires_in / 60)} minutes. Ctrl-C gives up.
`);

  // 2. Poll for the tokens until the user has decided. The library waits as long as the service says.
  const tokens = await poll(config, device);

  // 3. Use the tokens. To stay signed in, store them where no other user of this machine can read them.
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? client.skipSubjectCheck);
  const organizations = (user.organizations ?? []) as Organization[];
  console.log(`Signed in as ${user.name ?? user.preferred_username ?? user.sub}.`);
  if (user.email) console.log(`E-mail: ${user.email}`);
  console.log(`Granted: ${tokens.scope ?? scope}`);
  console.log(`Organizations: ${organizations.map(({ name, roleInOrg }) => `${name} (${roleInOrg})`).join(", ") || "none"}`);
}

/** A lost connection makes `fetch` throw a TypeError. The device then asks again, at half the pace (RFC 8628, section 3.5). */
async function poll(config: client.Configuration, device: client.DeviceAuthorizationResponse) {
  const signal = AbortSignal.timeout(device.expires_in * 1000);
  for (let interval = device.interval ?? 5; ; interval *= 2) {
    try {
      return await client.pollDeviceAuthorizationGrant(config, { ...device, interval }, undefined, { signal });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

const { ISSUER = "http://localhost:3000", CLIENT_ID, SCOPE = "openid profile email read-repos" } = process.env;
if (!CLIENT_ID) {
  console.error("Set CLIENT_ID to the client ID of an app that may use the device flow (README.md).");
  process.exit(2);
}

await signIn(new URL(ISSUER), CLIENT_ID, SCOPE).catch((error) => {
  const [exitCode, sentence] = FAILURES[error.error ?? error.code] ?? [1, `Sign-in failed: ${error.message}`];
  console.error(sentence);
  process.exitCode = exitCode;
});
