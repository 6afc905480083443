import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { answerInteraction, type Interaction, type InteractionCookies } from "./interaction.ts";

/** What has to happen before consent can be asked. */
export type LoginStep =
  /** The person must sign in, or sign in again because the app asked for it (`prompt=login`, `max_age`). */
  | { step: "sign-in"; isRepeat: boolean; loginHint?: string }
  /** Somebody else has signed in meanwhile: the request starts over with them. */
  | { step: "restart"; url: string }
  /** Signed in: the browser goes on at this address. */
  | { step: "continue"; url: string }
  /** Nothing: consent can be asked now. */
  | { step: "none" };

/** Decides how a sign-in stands, and tells the engine of one that is good enough (S15, S34). */
export async function finishLogin(
  at: InteractionCookies,
  interaction: Interaction,
  session: SiteSession | undefined,
): Promise<LoginStep> {
  const { params, prompt } = interaction;
  const loginHint = typeof params.login_hint === "string" ? params.login_hint : undefined;
  if (!session) return { step: "sign-in", isRepeat: false, loginHint };

  const known = interaction.session?.accountId;
  if (known && known !== session.user.id) return { step: "restart", url: restartUrl(interaction, session) };
  if (prompt.name !== "login") return { step: "none" };
  if (!isFreshEnough(interaction, session)) return { step: "sign-in", isRepeat: true, loginHint };

  const ts = Math.floor(session.authenticatedAt.getTime() / 1000);
  const url = await answerInteraction(at, { login: { accountId: session.user.id, ts, amr: ["pwd"], remember: true } });
  return { step: "continue", url };
}

/** Whether the person proved who they are late enough for this request. */
function isFreshEnough({ params, prompt, iat }: Interaction, session: SiteSession): boolean {
  const authenticatedAt = session.authenticatedAt.getTime() / 1000;
  // A second of grace: iat is in whole seconds, and the sign-in may have happened in the same one.
  if (prompt.reasons.includes("login_prompt") && authenticatedAt < (iat ?? 0) - 1) return false;
  const maxAge = Number(params.max_age);
  return params.max_age === undefined || Date.now() / 1000 - authenticatedAt <= Math.max(maxAge, RETURN_SECONDS);
}

/** With `max_age=0` only a sign-in made for this very request will do; it takes the browser a moment to come back from it. */
const RETURN_SECONDS = 30;

/** The same authorization request anew; what this person's sign-in has just satisfied is not asked a second time. */
function restartUrl(interaction: Interaction, session: SiteSession): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(interaction.params)) {
    if (typeof value === "string") parameters.set(name, value);
  }
  if (session.authenticatedAt.getTime() / 1000 >= (interaction.iat ?? 0) - 1) {
    const prompts = (parameters.get("prompt") ?? "").split(" ").filter((prompt) => prompt && prompt !== "login");
    if (prompts.length > 0) parameters.set("prompt", prompts.join(" "));
    else parameters.delete("prompt");
  }
  return `/oauth/authorize?${parameters}`;
}
