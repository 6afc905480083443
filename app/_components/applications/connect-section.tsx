import Link from "next/link";
import { env } from "#core/env.ts";
import { appEndpoints } from "#core/oauth/apps/app-endpoints.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { hasKeys } from "#core/oauth/apps/has-keys.ts";
import { CodeBlock } from "../code-block.tsx";
import { CopyField } from "../copy-field.tsx";
import { SectionCard } from "../section-card.tsx";
import { Tabs } from "../tabs.tsx";
import { browserSnippet } from "./snippets/browser-snippet.ts";
import { curlSnippet } from "./snippets/curl-snippet.ts";
import { deviceSnippet } from "./snippets/device-snippet.ts";
import { nextAuthSnippet } from "./snippets/next-auth-snippet.ts";
import { nodeSnippet } from "./snippets/node-snippet.ts";
import { pythonSnippet } from "./snippets/python-snippet.ts";
import { isStronger, sampleRedirectUri } from "./snippets/snippet-app.ts";

export type ConnectSectionProps = Readonly<{ details: AppDetails }>;

/** Everything to put into the app's own code: the addresses, and programs that run as they are. */
export function ConnectSection({ details: { app, secrets, keys } }: ConnectSectionProps) {
  const endpoints = appEndpoints();
  const { BRAND_NAME } = env();
  const hasSecret = secrets.length > 0;
  const sample = {
    issuer: endpoints.issuer,
    clientId: app.clientId,
    hasSecret,
    scope: app.scopes.join(" "),
    redirectUri: sampleRedirectUri(app.redirectUris),
    // Nobody asks the address of a key set for the sake of an example.
    key: hasKeys(app) ? { algorithm: keys[0]?.algorithms[0] ?? "ES256", kid: keys[0]?.kid ?? null } : undefined,
    isParRequired: app.isParRequired,
    isDpopRequired: app.isDpopRequired,
  };
  const node = { label: "Node", code: nodeSnippet(sample) };
  const onServer = [
    node,
    { label: "Next.js", code: nextAuthSnippet({ ...sample, brand: BRAND_NAME }) },
    { label: "Python", code: pythonSnippet(sample) },
    { label: "curl", code: curlSnippet(sample) },
  ];
  // What runs in a browser cannot keep a secret: an app that has one belongs on a server.
  const withRedirect = hasSecret ? onServer : [{ label: "Browser", code: browserSnippet(sample) }, ...onServer];
  const onDevice = [{ label: "Device code", code: deviceSnippet(sample) }];
  // An app without a redirect URI can do nothing but the device flow.
  const all = [...(app.redirectUris.length > 0 ? withRedirect : []), ...(app.isDeviceFlowAllowed ? onDevice : [])];
  const snippets = isStronger(sample) ? all.filter((snippet) => snippet === node) : all;
  return (
    <SectionCard
      title="Connect your app"
      description={
        <>
          Most libraries need the issuer alone and find the other addresses by themselves. The guides to{" "}
          <Link prefetch={false} href={`/docs/sign-in?app=${app.id}`} className="link">
            sign-in
          </Link>{" "}
          and{" "}
          <Link prefetch={false} href={`/docs/device?app=${app.id}`} className="link">
            devices
          </Link>{" "}
          are filled in with this app, and there are{" "}
          <Link prefetch={false} href="/docs/badges" className="link">
            badges
          </Link>{" "}
          for your page.
        </>
      }
    >
      <div className="grid grid-cols-1 gap-5">
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <CopyField label="Issuer" value={endpoints.issuer} />
          <CopyField label="Discovery" value={endpoints.discovery} />
          <CopyField label="Authorization endpoint" value={endpoints.authorization} />
          <CopyField label="Token endpoint" value={endpoints.token} />
          <CopyField label="Userinfo endpoint" value={endpoints.userinfo} />
          <CopyField label="Signing keys (JWKS)" value={endpoints.jwks} />
          {app.isDeviceFlowAllowed && (
            <>
              <CopyField label="Device authorization endpoint" value={endpoints.deviceAuthorization} />
              <CopyField label="Where people enter the code" value={endpoints.codeVerification} />
            </>
          )}
        </div>
        {snippets.length > 0 && (
          <Tabs
            label="Example in"
            tabs={snippets.map(({ label, code }) => ({
              label,
              content: <CodeBlock code={code} label={`${label} example`} />,
            }))}
          />
        )}
        {sample.key && (
          <p className="text-muted text-small">
            The example reads the private key from the environment variable <code>CLIENT_KEY</code>, as PEM (PKCS #8).
          </p>
        )}
        {hasSecret && snippets.length > 0 && (
          <p className="text-muted text-small">
            The examples read the secret from the environment variable <code>CLIENT_SECRET</code>.
          </p>
        )}
      </div>
    </SectionCard>
  );
}
