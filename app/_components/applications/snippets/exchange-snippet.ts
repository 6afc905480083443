export type ExchangeSample = Readonly<{ issuer: string; clientId: string; tokenType: string; email: string }>;

/** A token for one member, in a shell: the secret comes from the environment, where it does not stay in the history. */
export function exchangeSnippet({ issuer, clientId, tokenType, email }: ExchangeSample): string {
  return `curl -u ${shell(clientId)}:"$CLIENT_SECRET" ${shell(`${issuer}/oauth/token`)} \\
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
  -d subject_token_type=${tokenType} \\
  --data-urlencode subject_token=${shell(email)}
`;
}

/** A value as one word of a shell command. */
function shell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
