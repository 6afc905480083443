import { AppWindow, Building2, ChevronRight, FolderGit2, Link2 } from "lucide-react";
import Link from "next/link";
import { personActor } from "#core/access/actor.ts";
import { listOrganizations } from "#core/accounts/organizations/list-organizations.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { Avatar } from "../_components/avatar.tsx";
import { avatarSrc } from "../_components/avatar-src.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Chip } from "../_components/chip.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { List, ListRow } from "../_components/list.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { RepoList } from "../_components/repos/repo-list.tsx";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SectionCard } from "../_components/section-card.tsx";
import type { SiteSession } from "../_server/session.ts";

const REPOS_SHOWN = 6;

const steps = [
  {
    href: "/settings/connected-applications",
    Icon: Link2,
    title: "Connected apps",
    text: "See what each app may do for you, and end it.",
  },
  {
    href: "/settings/applications/new",
    Icon: AppWindow,
    title: "Create an OAuth app",
    text: "Let people sign in to something that you build.",
  },
  {
    href: "/organizations/new",
    Icon: Building2,
    title: "Create an organization",
    text: "Share repositories and apps with others.",
  },
] as const;

/** The first page of somebody who is signed in. */
export async function Home({ session }: Readonly<{ session: SiteSession }>) {
  const { user } = session;
  const person = personActor(session);
  const [organizations, { repos, nextCursor }] = await Promise.all([
    listOrganizations(user.id),
    listRepos(person, { owner: user.username, limit: REPOS_SHOWN }),
  ]);
  return (
    <div className="mx-auto max-w-5xl">
      <PageHeader title={`Hello, ${user.fullName || user.username}`} description="Where would you like to go?" />
      <RestrictionNotice userId={user.id} next="/" className="mb-5" />
      <div className="mb-5">
        <SectionCard
          title="Your repositories"
          isFlush
          action={
            <ButtonLink size="small" variant="primary" href="/new">
              New repository
            </ButtonLink>
          }
        >
          {repos.length > 0 ? (
            <RepoList label="Your repositories" repos={repos} isTypeShown />
          ) : (
            <EmptyState Icon={FolderGit2} title="No repositories yet">
              Keep models, datasets and Spaces here with git, and have webhooks told of each change.
            </EmptyState>
          )}
          {nextCursor && (
            <p className="border-line border-t px-4 py-3 text-small sm:px-5">
              <Link prefetch={false} href={`/${user.username}`} className="link">
                All of yours
              </Link>
            </p>
          )}
        </SectionCard>
      </div>
      <ul className="grid gap-4 md:grid-cols-3">
        {steps.map(({ href, Icon, title, text }) => (
          <li key={href}>
            <Link
              prefetch={false}
              href={href}
              className="group flex h-full flex-col rounded-card border border-line bg-surface p-5 motion-safe:transition-colors hover:border-edge"
            >
              <Icon className="size-5 text-brand" aria-hidden="true" />
              <span className="mt-3 flex items-center justify-between font-semibold">
                {title}
                <ChevronRight className="size-4 text-muted group-hover:text-ink" aria-hidden="true" />
              </span>
              <span className="mt-1 text-muted text-small">{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      {organizations.length > 0 && (
        <div className="mt-5">
          <SectionCard title="Your organizations" isFlush>
            <List>
              {organizations.map(({ id, name, fullName, avatarId, role }) => (
                <ListRow
                  key={id}
                  leading={<Avatar name={fullName} src={avatarSrc(name, avatarId)} kind="organization" />}
                  title={
                    <Link prefetch={false} href={`/${name}`} className="link">
                      {fullName}
                    </Link>
                  }
                  meta={name}
                  trailing={<Chip>{role}</Chip>}
                />
              ))}
            </List>
          </SectionCard>
        </div>
      )}
    </div>
  );
}
