import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { findMaker } from "#core/hub/repos/find-maker.ts";
import { readableSize } from "#core/readable-size.ts";
import { readSpaceRuntime } from "#core/spaces/space-runtime.ts";
import { watchingWebhooks } from "#core/webhooks/watching-webhooks.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { CopyField } from "../../../../_components/copy-field.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { SpaceStageChip } from "../../../../_components/repos/space-stage.tsx";
import { type RepoPage, repoHref } from "../../../../_server/repo-page.ts";
import { webhookListPath, webhookPath } from "../../../../_server/webhooks/webhook-paths.ts";
import { RepoCollections } from "./repo-collections.tsx";

/** How to get it, and what there is to know beside it. */
export async function RepoFacts({ page }: Readonly<{ page: RepoPage }>) {
  const { repo, mayManage } = page;
  const maker = await findMaker(repo);
  const isHere = repo.platformId === null;
  return (
    <aside aria-label="About this repository" className="grid content-start gap-6 text-small">
      {isHere && repo.type === "space" && <App page={page} />}
      {isHere && <Clone page={page} />}
      <dl className="grid gap-3">
        {isHere && <Fact name="Size">{readableSize(repo.sizeBytes)}</Fact>}
        <Fact name="Last change">
          <RelativeTime at={repo.updatedAt} />
        </Fact>
        <Fact name="Made">
          <RelativeTime at={repo.createdAt} />
          {maker && (
            <>
              {" by "}
              <Link prefetch={false} href={`/${maker}`} className="link">
                {maker}
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

/** How what it runs is doing, and the way there. */
async function App({ page: { repo, mayReadContent } }: Readonly<{ page: RepoPage }>) {
  const runtime = await readSpaceRuntime(repo.id);
  if (!runtime || !mayReadContent) return null;
  return (
    <section aria-label="App" className="flex flex-wrap items-center gap-3">
      <ButtonLink href={repoHref(repo, "serving")} variant="primary" size="small">
        Open the app
      </ButtonLink>
      <SpaceStageChip stage={runtime.stage} />
    </section>
  );
}

function Clone({ page: { repo, mayReadContent } }: Readonly<{ page: RepoPage }>) {
  const isOpen = !repo.isPrivate && repo.gated === "none";
  return (
    <section className="grid gap-2">
      <CopyField label="Clone" value={`git clone ${env().ORIGIN}${repoHref(repo)}`} />
      {!isOpen && mayReadContent && (
        <p className="text-muted">
          Git asks for a password: give it an{" "}
          <Link prefetch={false} href="/settings/tokens" className="link">
            access token
          </Link>
          .
        </p>
      )}
    </section>
  );
}

async function Webhooks({ page: { repo, actor } }: Readonly<{ page: RepoPage }>) {
  const { named, total } = await watchingWebhooks(actor, repo);
  const others = total - named.length;
  return (
    <section id="webhooks" className="grid gap-1">
      <h2 className="text-small">Webhooks watching this</h2>
      {total === 0 && <p className="text-muted">None.</p>}
      {named.length > 0 && (
        <ul className="grid gap-1">
          {named.map(({ id, url, domains, organization }) => (
            <li key={id} className="break-all text-muted">
              <Link prefetch={false} href={webhookPath(organization, id)} className="link text-ink">
                {url ? new URL(url).host : "A job"}
              </Link>{" "}
              · {domains.join(", ")}
            </li>
          ))}
        </ul>
      )}
      {others > 0 && <p className="text-muted">{named.length > 0 ? `And ${others} of others.` : `${others} of others.`}</p>}
      {actor.kind === "person" && (
        <p>
          <Link
            prefetch={false}
            href={`${webhookListPath(null)}/new?watch=${encodeURIComponent(`${repo.type}:${repo.fullName}`)}`}
            className="link text-muted"
          >
            Watch it with a webhook
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
