import { quoted, type SnippetApp } from "./snippet-app.ts";

/** A whole server in one file, on Authlib and Flask. */
export function pythonSnippet({ issuer, clientId, hasSecret, redirectUri, scope }: SnippetApp): string {
  const { pathname, port } = new URL(redirectUri);
  const secret = hasSecret ? `client_secret=os.environ["CLIENT_SECRET"],` : `token_endpoint_auth_method="none",`;
  return `# pip install authlib flask requests
import os
from authlib.integrations.flask_client import OAuth
from flask import Flask

REDIRECT_URI = ${quoted(redirectUri)}

app = Flask(__name__)
app.secret_key = os.urandom(32)  # keep one of your own
provider = OAuth(app).register(
    "provider",
    server_metadata_url=${quoted(`${issuer}/.well-known/openid-configuration`)},
    client_id=${quoted(clientId)},
    ${secret}
    client_kwargs={"scope": ${quoted(scope)}, "code_challenge_method": "S256"},
)


@app.get("/sign-in")
def sign_in():
    return provider.authorize_redirect(REDIRECT_URI)


@app.get(${quoted(pathname)})
def finish_sign_in():
    token = provider.authorize_access_token()
    return provider.userinfo(token=token)


app.run(port=${port || 8080})
`;
}
