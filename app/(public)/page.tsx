import { AppWindow, Building2, ChevronRight, FolderGit2, Link2 } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { personActor } from "#core/access/actor.ts";
import { listOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { readSignUpPolicy } from "#core/accounts/users/sign-up-policy.ts";
import { env } from "#core/env.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { type FirstStep, readFirstSteps } from "#core/operations/first-steps.ts";
import { Avatar, avatarSrc } from "../_components/avatar.tsx";
import { BrandMark } from "../_components/brand-mark.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { Checklist, type ChecklistStep } from "../_components/checklist.tsx";
import { Chip } from "../_components/chip.tsx";
import { CodeBlock } from "../_components/copyable.tsx";
import { EmptyState, List, ListRow } from "../_components/list.tsx";
import { roleNames } from "../_components/organization-wording.ts";
import { FormMessage, PageHeader, SectionCard } from "../_components/page-layout.tsx";
import { RepoList } from "../_components/repos/repo-list.tsx";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import type { PageQuery } from "../_server/page-query.ts";
import { currentSession, type SiteSession } from "../_server/session.ts";
import { chosenTheme } from "../_server/theme.ts";
import { dismissFirstStepsAction } from "./actions.ts";

export default async function StartPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [session, { notice }] = await Promise.all([currentSession(), searchParams]);
  return (
    <SiteFrame>
      <main id="main" className="mx-auto w-full max-w-page px-4 py-7 sm:px-5">
        {notice === "account-deleted" && <FormMessage tone="good">Account deleted.</FormMessage>}
        {session ? <Home session={session} /> : <Welcome />}
      </main>
    </SiteFrame>
  );
}

const REPOS_SHOWN = 6;

const links = [
  {
    href: "/settings/connected-applications",
    Icon: Link2,
    title: "Connected apps",
    text: "See what each app can do on your behalf, and revoke access.",
  },
  {
    href: "/settings/applications/new",
    Icon: AppWindow,
    title: "Create an OAuth app",
    text: "Let people sign in to what you build.",
  },
  {
    href: "/organizations/new",
    Icon: Building2,
    title: "Create an organization",
    text: "Share repositories and apps with others.",
  },
] as const;

const stepTexts: Record<FirstStep, Omit<ChecklistStep, "isDone">> = {
  repository: { href: "/new", title: "Create a repository", text: "For a model, a dataset or a Space." },
  token: {
    href: "/settings/tokens/new",
    title: "Create an access token",
    text: "Use it with git and the API instead of your password.",
  },
  webhook: { href: "/settings/webhooks/new", title: "Create a webhook", text: "Get notified when a repository changes." },
  secondStep: {
    href: "/settings/security",
    title: "Add a second step",
    text: "A passkey or an authenticator app protects your account, even if your password leaks.",
  },
};

async function Home({ session }: Readonly<{ session: SiteSession }>) {
  const { user } = session;
  const person = personActor(session);
  const [organizations, { repos, nextCursor }, steps] = await Promise.all([
    listOrganizations(user.id),
    listRepos(person, { owner: user.username, limit: REPOS_SHOWN }),
    readFirstSteps(person),
  ]);
  return (
    <div>
      <PageHeader title={`Hello, ${user.fullName || user.username}`} description="Where would you like to go?" />
      <RestrictionNotice userId={user.id} next="/" className="mb-5" />
      {steps && (
        <div className="mb-5">
          <Checklist
            title="First steps"
            steps={steps.map(({ step, isDone }) => ({ ...stepTexts[step], isDone }))}
            dismiss={dismissFirstStepsAction}
          />
        </div>
      )}
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
              Host models, datasets and Spaces in git, and get notified of each change by webhook.
            </EmptyState>
          )}
          {nextCursor && (
            <p className="border-line border-t px-4 py-3 text-small sm:px-5">
              <Link prefetch={false} href={`/${user.username}`} className="link">
                All your repositories
              </Link>
            </p>
          )}
        </SectionCard>
      </div>
      <ul className="grid gap-4 md:grid-cols-3">
        {links.map(({ href, Icon, title, text }) => (
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
                  trailing={<Chip>{roleNames[role]}</Chip>}
                />
              ))}
            </List>
          </SectionCard>
        </div>
      )}
    </div>
  );
}

async function Welcome() {
  const { BRAND_NAME, ORIGIN } = env();
  const { isOpen } = await readSignUpPolicy();
  return (
    <div className="mx-auto grid max-w-5xl gap-14 py-8 sm:gap-20 sm:py-16">
      <div className="max-w-reading">
        <BrandMark className="size-12 text-brand" />
        <h1 className="mt-6 text-display">Sign-in, repositories and webhooks in one place</h1>
        <p className="mt-4 max-w-xl text-lead text-muted">
          {BRAND_NAME} hosts models, datasets and Spaces in git, signs people in to other apps, and delivers every change to your
          programs.
        </p>
        <div className="mt-7 flex flex-wrap gap-3">
          {isOpen && (
            <ButtonLink variant="primary" href="/signup">
              Create an account
            </ButtonLink>
          )}
          <ButtonLink variant={isOpen ? "secondary" : "primary"} href="/login">
            Sign in
          </ButtonLink>
          <ButtonLink href="/docs">Read the docs</ButtonLink>
        </div>
      </div>
      <Feature
        title={`Sign in with ${BRAND_NAME}`}
        text="Websites, command-line tools, devices and agents sign people in with OAuth 2.0 and OpenID Connect. People choose each permission and each organization, and can revoke access anytime."
        links={[
          { href: "/docs/sign-in", label: "Add the button to your site" },
          { href: "/docs/consent", label: "What people see" },
        ]}
      >
        <Picture name="consent" width={480} height={625} alt="A site asks for permissions." />
      </Feature>
      <Feature
        title="Repositories in git"
        text="Models, datasets and Spaces are git repositories with large files, branches, discussions and pull requests. Use git or the browser. Roles and gates control who can read and who can write."
        links={[
          { href: "/models", label: "Models" },
          { href: "/datasets", label: "Datasets" },
          { href: "/spaces", label: "Spaces" },
        ]}
      >
        <CodeBlock
          label="git commands"
          code={`git clone ${ORIGIN}/you/tides\ncd tides\ngit add week-12.parquet  # in Git LFS, without setup\ngit commit -m "Add week 12"\ngit push`}
        />
      </Feature>
      <Feature
        title="Reliable webhooks"
        text="Every change is an event. Deliveries are signed, retried for two days, and recorded: see each attempt with its timings and response, and replay what failed."
        links={[
          { href: "/docs/webhooks", label: "Webhooks" },
          { href: "/docs/events", label: "All events" },
        ]}
      >
        <CodeBlock
          label="receiver"
          code={`import { launch, webhook } from "@keyhook/receiver";\n\nwebhook(function onChange({ event, repo }) {\n  console.log(event.scope, event.action, repo.name);\n});\n\nawait launch({ relay: true });`}
        />
      </Feature>
      <Feature
        title="Jobs and Spaces"
        text="Run commands in a sandbox: by hand, on a schedule, or for each event. A Space is a small program that starts when a request arrives and sleeps in between."
        links={[
          { href: "/docs/jobs", label: "Jobs" },
          { href: "/docs/spaces", label: "Spaces" },
        ]}
      >
        <CodeBlock
          label="commands for jobs"
          code={`npm install --global ${ORIGIN}/downloads/keyhook-cli.tgz\nkeyhook login\nkeyhook jobs run python:3.12 python -c 'print(6 * 7)'`}
        />
      </Feature>
    </div>
  );
}

type FeatureProps = Readonly<{
  title: string;
  text: string;
  links: ReadonlyArray<Readonly<{ href: string; label: string }>>;
  children: ReactNode;
}>;

function Feature({ title, text, links, children }: FeatureProps) {
  return (
    <section className="grid grid-cols-1 items-center gap-x-12 gap-y-6 md:grid-cols-2">
      <div>
        <h2 className="text-title">{title}</h2>
        <p className="mt-2 text-muted">{text}</p>
        <p className="mt-3 flex flex-wrap gap-x-5 gap-y-1">
          {links.map(({ href, label }) => (
            <Link key={href} prefetch={false} href={href} className="link">
              {label}
            </Link>
          ))}
        </p>
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  );
}

type PictureProps = Readonly<{ name: string; width: number; height: number; alt: string }>;

/** Shows a screenshot in the reader's theme. `npm run shots` takes the screenshots. */
async function Picture({ name, width, height, alt }: PictureProps) {
  const theme = await chosenTheme();
  const src = (of: string) => `/landing/${name}-${of}.webp`;
  return (
    <picture>
      {theme === "system" && <source media="(prefers-color-scheme: dark)" srcSet={src("dark")} />}
      <img
        src={src(theme === "dark" ? "dark" : "light")}
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
        className="h-auto w-full rounded-card border border-line"
      />
    </picture>
  );
}
