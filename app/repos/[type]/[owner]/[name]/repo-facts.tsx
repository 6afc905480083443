import { Lock, Plus } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { collectionPath } from "#core/hub/collections/collection.ts";
import { listCollections } from "#core/hub/collections/list-collections.ts";
import type { OwnAccessRequest } from "#core/hub/gates/access-requests.ts";
import { findCreator } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { readableSize } from "#core/readable-size.ts";
import { watchingWebhooks } from "#core/webhooks/watchers.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { CopyField } from "../../../../_components/copyable.tsx";
import { TextArea } from "../../../../_components/fields.client.tsx";
import { PressGuard } from "../../../../_components/form-buttons.tsx";
import { Markdown } from "../../../../_components/markdown.tsx";
import { FormMessage, SectionCard } from "../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { signInPath } from "../../../../_server/next-path.ts";
import { webhookListPath, webhookPath } from "../../../../_server/paths.ts";
import { type RepoPage, repoHref, repoNameOf } from "../../../../_server/repo-page.ts";
import { addToCollectionPath } from "../../../../collections/collections-path.ts";
import { askForAccessAction, withdrawAccessRequestAction } from "./settings/actions.ts";

export async function RepoFacts({ page }: Readonly<{ page: RepoPage }>) {
  const { repo, mayManage } = page;
  const creator = await findCreator(repo);
  const license = licenseOf(repo.card ?? {});
  const isHere = repo.platformId === null;
  return (
    <aside aria-label="About this repository" className="grid content-start gap-6 text-small">
      {isHere && <Clone page={page} />}
      <dl className="grid gap-3">
        {license && <Fact name="License">{license}</Fact>}
        {isHere && <Fact name="Size">{readableSize(repo.sizeBytes)}</Fact>}
        <Fact name="Last change">
          <RelativeTime at={repo.updatedAt} />
        </Fact>
        <Fact name="Created">
          <RelativeTime at={repo.createdAt} />
          {creator && (
            <>
              {" by "}
              <Link prefetch={false} href={`/${creator}`} className="link">
                {creator}
              </Link>
            </>
          )}
        </Fact>
      </dl>
      <RepoCollections page={page} />
      {mayManage && <Webhooks page={page} />}
    </aside>
  );
}

const LICENSE_MAX_CHARACTERS = 100;

function licenseOf({ license, license_name: name }: Record<string, unknown>): string {
  const text = [license === "other" && name ? name : license]
    .flat()
    .filter((each) => typeof each === "string")
    .join(", ");
  return text.slice(0, LICENSE_MAX_CHARACTERS);
}

function Clone({ page: { repo, mayReadContent } }: Readonly<{ page: RepoPage }>) {
  const isOpen = !repo.isPrivate && repo.gated === "none";
  return (
    <section className="grid gap-2">
      <CopyField label="Clone" value={`git clone ${env().ORIGIN}${repoHref(repo)}`} />
      {!isOpen && mayReadContent && (
        <p className="text-muted">
          When git asks for a password, use an{" "}
          <Link prefetch={false} href="/settings/tokens" className="link">
            access token
          </Link>
          .
        </p>
      )}
    </section>
  );
}

const domainWords: Readonly<Record<string, string>> = { repo: "repository", discussion: "discussions" };

async function Webhooks({ page: { repo, actor } }: Readonly<{ page: RepoPage }>) {
  const { named, others } = await watchingWebhooks(actor, repo);
  return (
    <section id="webhooks" className="grid gap-1">
      <h2 className="text-small">Webhooks</h2>
      {named.length === 0 && !others && <p className="text-muted">None.</p>}
      {named.length > 0 && (
        <ul className="grid gap-1">
          {named.map(({ id, name, url, domains, organization }) => (
            <li key={id} className="break-all text-muted">
              <Link prefetch={false} href={webhookPath(organization, id)} className="link text-ink">
                {name ?? (url ? new URL(url).host : "A job")}
              </Link>{" "}
              · {domains.map((domain) => domainWords[domain]).join(", ")}
            </li>
          ))}
        </ul>
      )}
      {others && (
        <p className="text-muted">
          {named.length > 0 && "And "}
          {others} by {others === "1" ? "someone else" : "others"}.
        </p>
      )}
      {actor.kind === "person" && (
        <p>
          <Link
            prefetch={false}
            href={`${webhookListPath(null)}/new?watch=${encodeURIComponent(`${repo.type}:${repo.fullName}`)}`}
            className="link text-muted"
          >
            Create webhook
          </Link>
        </p>
      )}
    </section>
  );
}

function Fact({ name, children }: Readonly<{ name: string; children: ReactNode }>) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const SHOWN = 4;

async function RepoCollections({ page: { repo, actor, person } }: Readonly<{ page: RepoPage }>) {
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  const { items, total } = await listCollections(actor, { containing: [name], pageSize: SHOWN });
  if (total === 0 && !person) return null;
  return (
    <section className="grid justify-items-start gap-1.5">
      <h2 className="text-small">Collections</h2>
      {total === 0 && <p className="text-muted">None.</p>}
      {total > 0 && (
        <ul className="grid min-w-0 gap-1">
          {items.map((collection) => (
            <li key={collection.id} className="break-words text-muted">
              <Link prefetch={false} href={collectionPath(collection)} className="link">
                <bdi>{collection.title}</bdi>
              </Link>{" "}
              by {collection.owner.handle}
            </li>
          ))}
        </ul>
      )}
      {total > items.length && <p className="text-muted">And {(total - items.length).toLocaleString("en")} more.</p>}
      {person && (
        <ButtonLink href={addToCollectionPath(repo)} size="small" className="mt-1">
          <Plus className="size-4" aria-hidden="true" />
          Add to a collection
        </ButtonLink>
      )}
    </section>
  );
}

type AccessCardProps = Readonly<{
  repo: Repo;
  username: string | undefined;
  email: string | undefined;
  request: Pick<OwnAccessRequest, "status" | "rejectionReason" | "askedAt"> | undefined;
}>;

export function AccessCard({ repo, username, email, request }: AccessCardProps) {
  return (
    <SectionCard
      title={
        <span className="flex items-center gap-2">
          <Lock className="size-4" aria-hidden="true" />
          Access to the files is restricted
        </span>
      }
      description="Everyone can see this page, but only people with access can see the files."
    >
      <div className="grid max-w-reading gap-5">
        {repo.gatePrompt && (
          <Markdown text={repo.gatePrompt} context={{ base: repoHref(repo), revision: repo.defaultBranch, idPrefix: "gate-" }} />
        )}
        {!username && (
          <div>
            <ButtonLink variant="primary" href={signInPath(repoHref(repo))}>
              Sign in to request access
            </ButtonLink>
          </div>
        )}
        {username && !request && <Ask repo={repo} username={username} email={email} />}
        {request?.status === "pending" && <Waiting repo={repo} askedAt={request.askedAt} />}
        {request?.status === "rejected" && (
          <FormMessage tone="warn">
            The maintainers have refused you access.{request.rejectionReason && ` Reason: ${request.rejectionReason}`}
          </FormMessage>
        )}
      </div>
    </SectionCard>
  );
}

function Ask({ repo, username, email }: Pick<AccessCardProps, "repo" | "username" | "email">) {
  const isAutomatic = repo.gated === "auto";
  return (
    <ActionForm action={askForAccessAction.bind(null, repoNameOf(repo))} label="Request access">
      <p>
        The maintainers of {repo.fullName} will see your username (<strong>{username}</strong>) and your e-mail address (
        <strong className="wrap-anywhere">{email}</strong>).{" "}
        {isAutomatic
          ? "You get access immediately."
          : `They decide, and ${isMailSent() ? "you get an e-mail with the decision" : "this page shows the decision"}.`}
      </p>
      {!isAutomatic && <TextArea name="message" label="Message" hint="What you need access for." maxLength={1_000} isOptional />}
      <PressGuard>
        <SubmitButton>{isAutomatic ? "Share and get access" : "Share and request access"}</SubmitButton>
      </PressGuard>
    </ActionForm>
  );
}

function Waiting({ repo, askedAt }: Readonly<{ repo: Repo; askedAt: Date }>) {
  return (
    <ActionForm action={withdrawAccessRequestAction.bind(null, repoNameOf(repo))} className="grid gap-3">
      <FormMessage>
        You requested access <RelativeTime at={askedAt} />. Nobody has decided yet.
      </FormMessage>
      <SubmitButton variant="secondary" size="small">
        Withdraw request
      </SubmitButton>
    </ActionForm>
  );
}
