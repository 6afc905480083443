import { Lock } from "lucide-react";
import type { OwnAccessRequest } from "#core/hub/gates/own-access-requests.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { FormMessage } from "../../../../_components/form-message.tsx";
import { Markdown } from "../../../../_components/markdown.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../_components/text-area.client.tsx";
import { signInPath } from "../../../../_server/next-path.ts";
import { repoHref, repoNameOf } from "../../../../_server/repo-page.ts";
import { askForAccessAction, withdrawAccessRequestAction } from "./actions.ts";

export type AccessCardProps = Readonly<{
  repo: Repo;
  /** Of whoever is signed in. */
  username: string | undefined;
  email: string | undefined;
  /** What they have asked so far. */
  request: Pick<OwnAccessRequest, "status" | "rejectionReason" | "askedAt"> | undefined;
}>;

/** The gate, for whoever stands before it: how to be let in, and what that tells whom. */
export function AccessCard({ repo, username, email, request }: AccessCardProps) {
  return (
    <SectionCard
      title={
        <span className="flex items-center gap-2">
          <Lock className="size-4" aria-hidden="true" />
          Access to the files is restricted
        </span>
      }
      description="Everybody sees this page. The files are for those who were let in."
    >
      <div className="grid max-w-reading gap-5">
        {repo.gatePrompt && (
          <Markdown text={repo.gatePrompt} place={{ base: repoHref(repo), revision: repo.defaultBranch, idPrefix: "gate-" }} />
        )}
        {!username && (
          <div>
            <ButtonLink variant="primary" href={signInPath(repoHref(repo))}>
              Sign in to ask for access
            </ButtonLink>
          </div>
        )}
        {username && !request && <Ask repo={repo} username={username} email={email} />}
        {request?.status === "pending" && <Waiting repo={repo} askedAt={request.askedAt} />}
        {request?.status === "rejected" && (
          <FormMessage tone="warn">
            Your request was rejected.{request.rejectionReason && ` They write: ${request.rejectionReason}`}
          </FormMessage>
        )}
      </div>
    </SectionCard>
  );
}

function Ask({ repo, username, email }: Pick<AccessCardProps, "repo" | "username" | "email">) {
  const isAutomatic = repo.gated === "auto";
  return (
    <ActionForm action={askForAccessAction.bind(null, repoNameOf(repo))} label="Ask for access">
      <p>
        Those who manage {repo.fullName} will see your username (<strong>{username}</strong>) and your e-mail address (
        <strong className="break-all">{email}</strong>).{" "}
        {isAutomatic ? "You are let in at once." : "They decide, and you get a letter with the answer."}
      </p>
      {!isAutomatic && <TextArea name="message" label="Message" hint="What you want it for." maxLength={1_000} isOptional />}
      <div>
        <SubmitButton>{isAutomatic ? "Share these and read the files" : "Share these and ask for access"}</SubmitButton>
      </div>
    </ActionForm>
  );
}

function Waiting({ repo, askedAt }: Readonly<{ repo: Repo; askedAt: Date }>) {
  return (
    <ActionForm action={withdrawAccessRequestAction.bind(null, repoNameOf(repo))} className="grid gap-3">
      <FormMessage>
        You asked <RelativeTime at={askedAt} />. Nobody has answered yet.
      </FormMessage>
      <div>
        <SubmitButton variant="secondary" size="small">
          Take the request back
        </SubmitButton>
      </div>
    </ActionForm>
  );
}
