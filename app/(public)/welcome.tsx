import { Blocks, Building2, KeyRound, ShieldCheck } from "lucide-react";
import { env } from "#core/env.ts";
import { BrandMark } from "../_components/brand-mark.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { Card } from "../_components/card.tsx";

const promises = [
  {
    Icon: KeyRound,
    title: "One account, many apps",
    text: "Websites, apps, command lines and agents sign you in without ever seeing your password.",
  },
  {
    Icon: ShieldCheck,
    title: "You say what each may do",
    text: "Every app shows what it asks for. Leave out what it does not need, and take it all back in one click.",
  },
  {
    Icon: Building2,
    title: "Organizations decide for themselves",
    text: "An app reaches an organization only when a member lets it in, and never further than that member's role.",
  },
] as const;

/** What this is, for somebody who came here for the first time. */
export function Welcome() {
  const { BRAND_NAME } = env();
  return (
    <div className="mx-auto grid max-w-5xl gap-12 py-8 sm:py-16">
      <div className="max-w-reading">
        <BrandMark className="size-12 text-brand" />
        <h1 className="mt-6 text-display">Sign in anywhere with your {BRAND_NAME} account</h1>
        <p className="mt-4 max-w-xl text-lead text-muted">
          {BRAND_NAME} signs you in to other people's apps, and leaves it to you what each of them may see and do.
        </p>
        <div className="mt-7 flex flex-wrap gap-3">
          <ButtonLink variant="primary" href="/signup">
            Create an account
          </ButtonLink>
          <ButtonLink href="/login">Sign in</ButtonLink>
        </div>
      </div>
      <Card>
        <ul className="grid divide-y divide-line md:grid-cols-3 md:divide-x md:divide-y-0">
          {promises.map(({ Icon, title, text }) => (
            <li key={title} className="p-5">
              <Icon className="size-5 text-brand" aria-hidden="true" />
              <h2 className="mt-3">{title}</h2>
              <p className="mt-1 text-muted text-small">{text}</p>
            </li>
          ))}
        </ul>
      </Card>
      <p className="flex items-start gap-2 text-muted text-small">
        <Blocks className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
        <span>
          Building something? It speaks OAuth 2.0 and OpenID Connect:{" "}
          <a className="link" href="/.well-known/openid-configuration">
            see what it offers
          </a>
          .
        </span>
      </p>
    </div>
  );
}
