/** A nightly job that exchanges each member's email address for a token. It shows what the token may and may not do. */
const { ISSUER = "http://localhost:3000", CLIENT_ID = "", CLIENT_SECRET = "", ORG = "tidepool" } = process.env;
const credentials = `Basic ${Buffer.from(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`).toString("base64")}`;

async function tokenFor(email: string): Promise<string> {
  const discovery = await fetch(`${ISSUER}/.well-known/openid-configuration`);
  const { token_endpoint } = await discovery.json();
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: email,
    subject_token_type: "urn:huggingface:token-type:user-email",
  });
  const answer = await fetch(token_endpoint, { method: "POST", headers: { authorization: credentials }, body });
  const { access_token, expires_in, scope, error_description } = await answer.json();
  if (!answer.ok) throw new Error(`no token for ${email}: ${error_description}`);
  console.log(`\n${email} · ${expires_in / 3600} hours · ${scope}`);
  return access_token;
}

async function call(token: string, does: string, method: string, path: string, body?: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(ISSUER + path, { method, headers, body: body && JSON.stringify(body) });
  const { error = "" } = answer.ok ? {} : await answer.json();
  console.log(`  ${answer.ok ? "may    " : "may not"}  ${does.padEnd(48)} ${answer.status} ${error}`.trimEnd());
}

const report = { type: "model", name: `night-report-${process.pid}`, private: true };
const file = { summary: "Add the report", files: [{ path: "README.md", content: "# Last night\n" }] };
const emails = process.argv.length > 2 ? process.argv.slice(2) : ["mara@example.test", "jonas@example.test"];
const tokens: string[] = [];
for (const [at, email] of emails.entries()) {
  const token = await tokenFor(email);
  tokens.push(token);
  await call(token, "say whose token it is", "GET", "/api/whoami-v2");
  if (at === 0)
    await call(token, "create a private repository of the organization", "POST", "/api/repos/create", {
      ...report,
      organization: ORG,
    });
  await call(token, "read it", "GET", `/api/models/${ORG}/${report.name}`);
  await call(token, "write to it", "POST", `/api/models/${ORG}/${report.name}/commit/main`, file);
  await call(token, "create a repository of the member's own", "POST", "/api/repos/create", report);
}
console.log("");
await call(tokens[0] ?? "", "delete it again", "DELETE", "/api/repos/delete", { ...report, organization: ORG });
