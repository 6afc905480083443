import { Browser } from "#core/oauth/testing/browser.ts";
import { OWNER } from "./service.ts";

export async function signInByForm(origin: string): Promise<void> {
  const browser = new Browser(origin);
  const page = await browser.fetch("/login");
  if (page.status !== 200) throw new Error(`the page: ${page.status}`);
  const shown = (await page.text()).split("<form").find((each) => each.includes('name="login"')) ?? "";
  const form = new FormData();
  for (const [input] of shown.matchAll(/<input [^>]*type="hidden"[^>]*>/g)) {
    const [name, value] = ["name", "value"].map((each) => unescaped(new RegExp(` ${each}="([^"]*)"`).exec(input)?.[1] ?? ""));
    if (name) form.set(name, value ?? "");
  }
  form.set("login", OWNER.username);
  form.set("password", OWNER.password);
  const answer = await browser.fetch("/login", { method: "POST", body: form, headers: { origin } });
  if (answer.status !== 303) throw new Error(`the form: ${answer.status}`);
  const account = await browser.fetch("/settings/account");
  if (account.status !== 200) throw new Error(`the account: ${account.status}`);
}

const unescaped = (text: string): string => text.replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&amp;", "&");
