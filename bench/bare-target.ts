import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Browser } from "#core/oauth/testing/browser.ts";
import { authorizeUrl, EXCHANGED, inLanes, memberEmail, REDIRECT_URI, type Target } from "./targets.ts";

// The engine's in-memory store keeps only its 1,000 newest entries.
const DEVICES = 500;

/** `agree` repeats the user's consent, which the store may lose. */
export async function startBare(): Promise<Target & { agree(): Promise<void> }> {
  const child = fork(join(import.meta.dirname, "bare-provider.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ origin }] = (await once(child, "message")) as [{ origin: string }];
  const target = {
    name: "bare engine, in memory",
    origin,
    pid: child.pid as number,
    clientId: "bench",
    secret: "a-secret-that-is-long-enough-for-the-benchmark",
    browser: new Browser(origin),
    paths: { authorize: "/auth", token: "/token", userinfo: "/me", introspect: "/token/introspection" },
    deviceClientId: "bench-device",
    exchange: {
      clientId: "bench",
      secret: "a-secret-that-is-long-enough-for-the-benchmark",
      emails: Array.from({ length: EXCHANGED }, (_, at) => memberEmail(at)),
    },
    agree: () => agreeAtBare(target),
    makeDeviceCodes: (clientId: string): Promise<string[]> => askForDeviceCodes(target, clientId),
    stop: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
  await agreeAtBare(target);
  return target;
}

async function agreeAtBare(target: Target): Promise<void> {
  let url = authorizeUrl(target).href;
  for (let hops = 0; hops < 10; hops++) {
    const response = await target.browser.fetch(url);
    const location = response.headers.get("location");
    if (location) {
      if (location.startsWith(REDIRECT_URI)) return;
      url = new URL(location, target.origin).href;
      continue;
    }
    const isLogin = (await response.text()).includes('name="login"');
    const form = new URLSearchParams(isLogin ? { prompt: "login", login: "mara", password: "x" } : { prompt: "consent" });
    const answered = await target.browser.fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: form.toString(),
    });
    url = new URL(answered.headers.get("location") ?? "", target.origin).href;
  }
  throw new Error("the bare engine did not finish its sign-in");
}

async function askForDeviceCodes({ origin, clientId, secret }: Target, askingId: string): Promise<string[]> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
  return inLanes(DEVICES, async () => {
    const body = new URLSearchParams({ client_id: askingId, scope: "openid" });
    const headers = askingId === clientId ? { authorization } : undefined;
    const response = await fetch(`${origin}/device/auth`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { device_code: string }).device_code;
  });
}
