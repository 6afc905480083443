import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { findMaker } from "#core/hub/repos/find-maker.ts";
import { watchingWebhooks } from "#core/webhooks/watching-webhooks.ts";
import { CopyField } from "../../../../_components/copy-field.tsx";
import { readableSize } from "../../../../_components/readable-size.ts";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { type RepoPage, repoHref } from "../../../../_server/repo-page.ts";
import { RepoCollections } from "./repo-collections.tsx";

/** How to get it, and what there is to know beside it. */
export async function RepoFacts({ page }: Readonly<{ page: RepoPage }>) {
  const { repo, mayManage } = page;
  const maker = await findMaker(repo);
  const isHere = repo.platformId === null;
  return (
    <aside aria-label="About this repository" className="grid content-start gap-6 text-small">
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
          {named.map(({ id, url, domains }) => (
            <li key={id} className="break-all text-muted">
              {url ? new URL(url).host : "A job"} · {domains.join(", ")}
            </li>
          ))}
        </ul>
      )}
      {others > 0 && <p className="text-muted">{named.length > 0 ? `And ${others} of others.` : `${others} of others.`}</p>}
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
