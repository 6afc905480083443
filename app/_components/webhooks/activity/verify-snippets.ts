export type SignedRequest = Readonly<{
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}>;

/** These programs ignore the delivery's age, so that older deliveries can be examined. */
export function verifySnippets(request: SignedRequest): ReadonlyArray<Readonly<{ label: string; code: string }>> {
  return [
    { label: "Node", code: node(request) },
    { label: "Python", code: python(request) },
    { label: "Shell", code: shell(request) },
  ];
}

const of = ({ headers }: SignedRequest, name: string): string => JSON.stringify(headers[name] ?? "");

const node = (request: SignedRequest) => `// WEBHOOK_SECRET=… node verify.mjs
import { createHmac } from "node:crypto";

const secret = process.env.WEBHOOK_SECRET;
const id = ${of(request, "webhook-id")};
const timestamp = ${of(request, "webhook-timestamp")};
const signature = ${of(request, "webhook-signature")};
const body = ${JSON.stringify(request.body)};

const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
const hmac = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\${body}\`).digest("base64");
console.log(signature.split(" ").includes(\`v1,\${hmac}\`) ? "The signature is right." : "The signature is wrong.");
`;

// A JSON string is also a Python string.
const python = (request: SignedRequest) => `# WEBHOOK_SECRET=… python3 verify.py
import base64, hashlib, hmac, os

secret = os.environ["WEBHOOK_SECRET"]
id = ${of(request, "webhook-id")}
timestamp = ${of(request, "webhook-timestamp")}
signature = ${of(request, "webhook-signature")}
body = ${JSON.stringify(request.body)}

key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
digest = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
right = "v1," + base64.b64encode(digest).decode() in signature.split(" ")
print("The signature is right." if right else "The signature is wrong.")
`;

const shell = (request: SignedRequest) => `# WEBHOOK_SECRET=… sh verify.sh
id=${quote(request.headers["webhook-id"] ?? "")}
timestamp=${quote(request.headers["webhook-timestamp"] ?? "")}
signature=${quote(request.headers["webhook-signature"] ?? "")}
body=${quote(request.body)}

case $WEBHOOK_SECRET in
  whsec_*) key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n') ;;
  *) key=$(printf %s "$WEBHOOK_SECRET" | od -An -v -tx1 | tr -d ' \\n') ;;
esac
hmac=$(printf %s "$id.$timestamp.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
case " $signature " in
  *" v1,$hmac "*) echo "The signature is right." ;;
  *) echo "The signature is wrong." ;;
esac
`;

export function curlCommand({ headers, body }: SignedRequest): string {
  const sent = ["content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"];
  return [
    "# The same request, to a receiver on your own machine",
    "curl --include http://localhost:3000/ \\",
    ...sent.filter((name) => headers[name] !== undefined).map((name) => `  --header ${quote(`${name}: ${headers[name]}`)} \\`),
    ...(headers["x-webhook-secret"] === undefined ? [] : ['  --header "x-webhook-secret: $WEBHOOK_SECRET" \\']),
    `  --data-raw ${quote(body)}`,
    "",
  ].join("\n");
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
