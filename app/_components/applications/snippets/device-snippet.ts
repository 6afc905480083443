import { quoted, type SnippetApp } from "./snippet-app.ts";

/** A program without a browser, on openid-client: it shows a code, waits, and knows who entered it. */
export function deviceSnippet({ issuer, clientId, hasSecret, scope }: SnippetApp): string {
  const authentication = hasSecret ? "client.ClientSecretBasic(process.env.CLIENT_SECRET)" : "client.None()";
  const options = issuer.startsWith("http:") ? "\n  { execute: [client.allowInsecureRequests] }," : "";
  return `// npm install openid-client
import * as client from "openid-client";

const config = await client.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(clientId)},
  undefined,
  ${authentication},${options}
);
const device = await client.initiateDeviceAuthorization(config, { scope: ${quoted(scope)} });
console.log(\`Open \${device.verification_uri} and enter \${device.user_code}\`);
console.log(\`Or open \${device.verification_uri_complete}, for example from a QR code\`);

try {
  const tokens = await client.pollDeviceAuthorizationGrant(config, device);
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? client.skipSubjectCheck);
  console.log(JSON.stringify(user));
} catch (error) {
  // access_denied: the person refused; expired_token: nobody entered the code in time.
  console.error(error.error ?? error.message);
  process.exitCode = 1;
}
`;
}
