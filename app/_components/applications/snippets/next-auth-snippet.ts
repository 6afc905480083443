import { quoted, type SnippetApp } from "./snippet-app.ts";

export type NextAuthSnippetApp = SnippetApp & Readonly<{ brand: string }>;

/** One file of a Next.js site, on Auth.js (next-auth 4). */
export function nextAuthSnippet({ issuer, clientId, hasSecret, scope, brand }: NextAuthSnippetApp): string {
  const id =
    brand
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "sign-in";
  const credentials = hasSecret
    ? `clientId: ${quoted(clientId)},
      clientSecret: process.env.CLIENT_SECRET,`
    : `clientId: ${quoted(clientId)},
      client: { token_endpoint_auth_method: "none" },`;
  return `// npm install next-auth
// app/api/auth/[...nextauth]/route.ts
// Redirect URI to register: <your site>/api/auth/callback/${id}
// Environment: NEXTAUTH_URL=<your site>, NEXTAUTH_SECRET=<output of: openssl rand -base64 32>
import NextAuth from "next-auth";

const handler = NextAuth({
  providers: [
    {
      id: ${quoted(id)},
      name: ${quoted(brand)},
      type: "oauth",
      wellKnown: ${quoted(`${issuer}/.well-known/openid-configuration`)},
      ${credentials}
      authorization: { params: { scope: ${quoted(scope)} } },
      checks: ["pkce", "state"],
      idToken: true,
      profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),
    },
  ],
});

export { handler as GET, handler as POST };
`;
}
