import Link from "next/link";
import { env } from "#core/env.ts";
import { hasKeys } from "#core/oauth/apps/change-app.ts";
import { isFapiAlgorithm } from "#core/oauth/apps/fapi-profile.ts";
import type { AppDetails, KeyDescription } from "#core/oauth/apps/get-app.ts";
import { appEndpoints } from "#core/oauth/protocol-routes.ts";
import { CodeBlock, CopyField } from "../copyable.tsx";
import { SectionCard } from "../page-layout.tsx";
import { Tabs } from "../tabs.tsx";
import {
  browserSnippet,
  curlSnippet,
  deviceSnippet,
  isNodeOnly,
  nextAuthSnippet,
  nodeSnippet,
  pythonSnippet,
  sampleRedirectUri,
} from "./snippets.ts";

type ConnectSectionProps = Readonly<{ details: AppDetails }>;

export function ConnectSection({ details: { app, secrets, keys } }: ConnectSectionProps) {
  const endpoints = appEndpoints();
  const { BRAND_NAME } = env();
  const hasSecret = secrets.length > 0;
  const isFapi = app.securityProfile === "fapi2";
  const sample = {
    issuer: endpoints.issuer,
    clientId: app.clientId,
    hasSecret,
    scope: app.scopes.join(" "),
    redirectUri: sampleRedirectUri(app.redirectUris),
    // If the keys are at a URL, the example assumes an algorithm. An example does not justify a request to that URL.
    key: hasKeys(app) ? exampleKey(keys, isFapi) : undefined,
    isParRequired: app.isParRequired,
    isDpopRequired: app.isDpopRequired,
    isFapi,
  };
  const node = { label: "Node", code: nodeSnippet(sample) };
  const onServer = [
    node,
    { label: "Next.js", code: nextAuthSnippet({ ...sample, brand: BRAND_NAME }) },
    { label: "Python", code: pythonSnippet(sample) },
    { label: "curl", code: curlSnippet(sample) },
  ];
  // Code in a browser cannot keep a secret.
  const withRedirect = hasSecret ? onServer : [{ label: "Browser", code: browserSnippet(sample) }, ...onServer];
  const onDevice = [{ label: "Device code", code: deviceSnippet(sample) }];
  const all = [...(app.redirectUris.length > 0 ? withRedirect : []), ...(app.isDeviceFlowAllowed ? onDevice : [])];
  const snippets = isNodeOnly(sample) ? all.filter((snippet) => snippet === node) : all;
  return (
    <SectionCard
      title="Connection"
      description={
        <>
          Most libraries need only the issuer and discover the other URLs. The guides to{" "}
          <Link prefetch={false} href={`/docs/sign-in?app=${app.id}`} className="link">
            sign-in
          </Link>{" "}
          and{" "}
          <Link prefetch={false} href={`/docs/device?app=${app.id}`} className="link">
            devices
          </Link>{" "}
          are filled in with this app's values, and there are{" "}
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
        {sample.key && snippets.length > 0 && (
          <p className="text-muted text-small">
            The code reads the private key from the environment variable <code>CLIENT_KEY</code>, as PEM (PKCS #8).
          </p>
        )}
        {hasSecret && snippets.length > 0 && (
          <p className="text-muted text-small">
            The code reads the secret from the environment variable <code>CLIENT_SECRET</code>.
          </p>
        )}
      </div>
    </SectionCard>
  );
}

function exampleKey(keys: readonly KeyDescription[], isFapi: boolean) {
  const algorithms = keys.flatMap((key) => key.algorithms.map((algorithm) => ({ algorithm, kid: key.kid })));
  const usable = isFapi ? algorithms.find(({ algorithm }) => isFapiAlgorithm(algorithm)) : algorithms[0];
  return usable ?? { algorithm: "ES256", kid: null };
}
