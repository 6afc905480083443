import type { SnippetApp } from "./snippet-app.ts";

/** The protocol by hand, in a shell. */
export function curlSnippet({ issuer, clientId, hasSecret, redirectUri, scope }: SnippetApp): string {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    redirect_uri: redirectUri,
    scope,
    state: "demo",
  });
  const credentials = hasSecret ? `-u ${shell(clientId)}:"$CLIENT_SECRET"` : `-d client_id=${shell(clientId)}`;
  return `# 1. Open the address that this prints, sign in, and copy the code from the address that you are sent to.
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
echo ${shell(`${issuer}/oauth/authorize?${query}`)}"&code_challenge=$challenge&code_challenge_method=S256"

# 2. Within a minute, change the code for tokens.
read -r -p "code: " code
curl ${credentials} -d grant_type=authorization_code -d code="$code" -d code_verifier="$verifier" \\
  --data-urlencode redirect_uri=${shell(redirectUri)} ${shell(`${issuer}/oauth/token`)}

# 3. Ask who it is.
read -r -p "access token: " token
curl -H "Authorization: Bearer $token" ${shell(`${issuer}/oauth/userinfo`)}
`;
}

/** A value as one word of a shell command. */
function shell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
