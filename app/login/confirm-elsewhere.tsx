import { listLinkedIdentities } from "#core/accounts/identity-providers/list-linked-identities.ts";
import { buttonClass } from "../_components/button.tsx";
import { elsewherePath } from "../_server/elsewhere.ts";

/** How somebody who has neither password nor passkey proves anew who they are (S113): where they sign in. */
export async function ConfirmElsewhere({ userId, next }: Readonly<{ userId: string; next: string }>) {
  const identities = await listLinkedIdentities(userId);
  const providers = new Map(
    identities.flatMap(({ provider }) => (provider.organization || provider.isDisabled ? [] : [[provider.slug, provider.name]])),
  );
  return (
    <div className="grid gap-4">
      {providers.size > 0 && (
        <ul className="grid gap-2.5" aria-label="Where you sign in">
          {[...providers].map(([slug, name], index) => (
            <li key={slug}>
              <a
                className={buttonClass({ isWide: true, variant: index === 0 ? "primary" : "secondary" }, "min-w-0")}
                href={elsewherePath(slug as string, { next, intent: "reauthenticate" })}
              >
                <span className="min-w-0 truncate">Confirm with {name}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <p className="text-muted text-small">
        Your account has no password.{" "}
        <a className="link" href="/forgot-password">
          Set one by mail
        </a>
        {providers.size > 0 ? ", if you cannot sign in there." : ", then sign in again."}
      </p>
    </div>
  );
}
