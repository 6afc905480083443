import type { Repo } from "#core/hub/repos/repo.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { receiverAddress } from "#core/spaces/controls/renew-receiver-address.ts";
import type { SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { ConfirmDestructive } from "../../../../../_components/confirm-destructive.client.tsx";
import { CopyField } from "../../../../../_components/copy-field.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { controlSpaceAction } from "./actions.ts";

/** Where webhooks post to what runs here. */
export function ReceiverCard({ repo, runtime }: Readonly<{ repo: Repo; runtime: SpaceRuntime }>) {
  const isOpen = !repo.isPrivate && repo.gated === "none";
  return (
    <SectionCard
      title="As a webhook receiver"
      description={
        isOpen
          ? "A webhook with this address, and any path of the app behind it, posts to what runs here, and wakes it when it sleeps. Check the webhook's secret or signature: anybody can post."
          : "Not everybody may open this Space, webhooks neither: to this address they can post all the same. Whoever knows it can, and can do nothing else."
      }
    >
      <div className="grid gap-4">
        <CopyField label="Address" value={isOpen ? appUrl(repo) : receiverAddress(repo, runtime)} />
        {!isOpen && (
          <ConfirmDestructive
            action={controlSpaceAction.bind(null, repoNameOf(repo), "renew-receiver")}
            trigger="Make another address"
            title={`Make another address for ${repo.fullName}?`}
            confirm="Make another address"
            size="small"
          >
            What is posted to this one fails from then on. Give the webhooks that use it the new one.
          </ConfirmDestructive>
        )}
      </div>
    </SectionCard>
  );
}
