import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { acrOf, amrOf } from "../site-session.ts";
import { answerInteraction, type Interaction, type InteractionCookies, interactionStartedAt } from "./interaction.ts";

export type LoginStep =
  | {
      step: "sign-in";
      isRepeat: boolean;
      isOtherAccount?: boolean;
      loginHint?: string;
    }
  | { step: "restart"; url: string }
  | { step: "continue"; url: string }
  | { step: "none" };

/** See S15, S34. */
export async function finishLogin(
  at: InteractionCookies,
  interaction: Interaction,
  session: SiteSession | undefined,
): Promise<LoginStep> {
  const { params, prompt } = interaction;
  const loginHint = typeof params.login_hint === "string" ? params.login_hint : undefined;
  if (!session) return { step: "sign-in", isRepeat: false, loginHint };

  const startedAt = await interactionStartedAt(at);
  const known = interaction.session?.accountId;
  if (known && known !== session.user.id) return { step: "restart", url: restartUrl(interaction, session, startedAt) };
  if (prompt.name !== "login") return { step: "none" };
  if (prompt.reasons.includes("id_token_hint") && subjectOf(params.id_token_hint) !== session.user.id) {
    return { step: "sign-in", isRepeat: true, isOtherAccount: true, loginHint };
  }
  if (!isFreshEnough(interaction, session, startedAt)) return { step: "sign-in", isRepeat: true, loginHint };

  const ts = Math.floor(session.authenticatedAt.getTime() / 1000);
  const proof = { amr: amrOf(session), acr: acrOf(session) };
  const url = await answerInteraction(at, { login: { accountId: session.user.id, ts, ...proof, remember: true } });
  return { step: "continue", url };
}

/** OIDC Core §3.1.2.1. */
function isFreshEnough({ params, prompt }: Interaction, session: SiteSession, startedAt: Date): boolean {
  if (session.authenticatedAt >= startedAt) return true;
  if (prompt.reasons.includes("login_prompt")) return false;
  return params.max_age === undefined || Date.now() - session.authenticatedAt.getTime() <= Number(params.max_age) * 1000;
}

/** The engine verified the token's signature when the request arrived. */
function subjectOf(idToken: unknown): unknown {
  const payload = String(idToken).split(".")[1] ?? "";
  return (JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub?: unknown }).sub;
}

/**
 * Removes satisfied prompts, which would otherwise repeat forever. `max_age` replaces `prompt=login`, so that the ID token still
 * has `auth_time` (docs/decisions/013).
 */
function restartUrl({ params }: Interaction, session: SiteSession, startedAt: Date): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of [value].flat()) if (typeof each === "string") parameters.append(name, each);
  }
  if (session.authenticatedAt < startedAt) return `/oauth/authorize?${parameters}`;

  const prompts = String(params.prompt ?? "").split(" ");
  const left = prompts.filter((prompt) => prompt !== "" && prompt !== "login" && prompt !== "select_account");
  if (left.length > 0) parameters.set("prompt", left.join(" "));
  else parameters.delete("prompt");
  // The engine refuses `max_age` in requests without an ID token.
  if (prompts.includes("login") && String(params.scope).split(" ").includes("openid")) {
    const ageSeconds = Math.ceil((Date.now() - startedAt.getTime()) / 1000) + 1;
    parameters.set("max_age", String(Math.min(ageSeconds, Number(params.max_age ?? ageSeconds))));
  }
  return `/oauth/authorize?${parameters}`;
}
