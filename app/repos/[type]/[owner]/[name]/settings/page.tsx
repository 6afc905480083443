import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { countAccessRequests } from "#core/hub/gates/access-requests.ts";
import { listRefs } from "#core/hub/git/read/list-refs.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { GATE_PROMPT_MAX_CHARACTERS } from "#core/hub/repos/repo-settings.ts";
import { ActionForm, SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { ConfirmDestructive } from "../../../../../_components/details-form.client.tsx";
import { Choices, Field, Select, TextArea } from "../../../../../_components/fields.client.tsx";
import { FormMessage, SectionCard } from "../../../../../_components/page-layout.tsx";
import { currentPart, LinkTabs } from "../../../../../_components/tabs.tsx";
import { type OwnerChoice, ownerChoices } from "../../../../../_server/owner-page.ts";
import { type PageQuery, textOf } from "../../../../../_server/page-query.ts";
import { repoPublishersPath } from "../../../../../_server/publishers/publisher-paths.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../_server/repo-page.ts";
import { deleteRepoAction, moveRepoAction } from "./actions.ts";
import {
  AboutCard,
  BranchCard,
  DiscussionsCard,
  ProtectionCard,
  Save,
  settingsAction,
  VisibilityCard,
} from "./settings-cards.tsx";

export const metadata: Metadata = { title: "Settings" };

const BRANCHES_SHOWN = 200;
/** If git takes longer, the page appears without the branches. Only one setting needs them. */
const REFS_MAX_MS = 5_000;

const parts = { general: "General", access: "Access", danger: "Danger" };

export default async function RepoSettingsPage({
  params,
  searchParams,
}: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const { repo, mayManage, session, person } = await repoPage(params);
  if (!mayManage || !session || !person) notFound();
  if (repo.platformId !== null) {
    return (
      <FormMessage>
        This repository is hosted on another platform. Change it there, and this page will show the change.
      </FormMessage>
    );
  }
  const { notice, tab } = await searchParams;
  const part = currentPart(parts, textOf(tab));
  return (
    <div className="grid gap-5">
      {textOf(notice) === "moved" && (
        <FormMessage tone="good">
          The repository is now {repo.fullName}. Its old URL redirects here until someone uses that name again.
        </FormMessage>
      )}
      <LinkTabs label="Settings" parts={parts} path={repoHref(repo, "settings")} current={part} />
      {part === "general" && (
        <>
          <AboutCard repo={repo} />
          <BranchCard repo={repo} branches={await branchesOf(repo)} />
          <DiscussionsCard repo={repo} />
        </>
      )}
      {part === "access" && (
        <>
          <VisibilityCard repo={repo} />
          <GateCard repo={repo} />
          <ProtectionCard repo={repo} />
          <PublishersCard repo={repo} />
        </>
      )}
      {part === "danger" && (
        <>
          <MoveCard repo={repo} owners={await ownerChoices(person, session.user.username)} />
          <DeleteCard repo={repo} />
        </>
      )}
    </div>
  );
}

/** Returns an empty list for no branches or too many, and undefined if git takes too long. */
async function branchesOf(repo: Repo): Promise<string[] | undefined> {
  const branches = (await ifInTime(listRefs(repo), REFS_MAX_MS)).value?.branches;
  return branches && branches.length > BRANCHES_SHOWN ? [] : branches?.map(({ name }) => name);
}

function PublishersCard({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <SectionCard
      title="Trusted publishers"
      description="Let jobs of a pipeline (GitHub, GitLab, CircleCI, Bitbucket or another) push to this repository without a stored token."
    >
      <ButtonLink href={repoPublishersPath(repoNameOf(repo))}>Manage publishers</ButtonLink>
    </SectionCard>
  );
}

function MoveCard({ repo, owners }: Readonly<{ repo: Repo; owners: readonly OwnerChoice[] }>) {
  const { handle } = repo.owner;
  const choices = owners.some(({ value }) => value === handle) ? owners : [{ value: handle, label: handle }, ...owners];
  return (
    <SectionCard
      title="Name and owner"
      description="The URL changes. The old one redirects until someone uses that name again. A new owner takes control: you keep only the permissions that you have there, and trusted publishers are deleted."
    >
      <ActionForm
        action={moveRepoAction.bind(null, repoNameOf(repo))}
        values={{ owner: handle, name: repo.name }}
        className="grid max-w-reading gap-5"
        label="Name and owner"
      >
        <div className="grid items-start gap-5 sm:grid-cols-2">
          <Select name="owner" label="Owner" options={choices} />
          <Field name="name" label="Name" maxLength={96} isMono />
        </div>
        <SubmitButton variant="secondary">Rename or move</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

function DeleteCard({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <SectionCard title="Deletion" description="This cannot be undone." isDanger>
      <ConfirmDestructive
        action={deleteRepoAction.bind(null, repoNameOf(repo))}
        trigger="Delete this repository"
        title={`Delete ${repo.fullName}?`}
        confirm="Delete permanently"
        phrase={repo.fullName}
      >
        All files, commits, discussions and pull requests are deleted immediately, and the repository is removed from every
        collection. Existing clones are not affected.
      </ConfirmDestructive>
    </SectionCard>
  );
}

const choices = [
  { value: "none", label: "No gate", hint: "Everyone who can see the repository can read its files." },
  {
    value: "auto",
    label: "Accept all requests",
    hint: "People can read the files after they share their username and e-mail address with the maintainers. You can remove access for individual people.",
  },
  {
    value: "manual",
    label: "Review each request",
    hint: "People share their username and e-mail address, and can read the files only after you accept their request.",
  },
];

/** The gate decides who may read the files, among those who can see the repository. */
async function GateCard({ repo }: Readonly<{ repo: Repo }>) {
  const { pending } = await countAccessRequests(repo);
  return (
    <SectionCard
      title="Gate"
      description={
        repo.isPrivate
          ? "Takes effect once the repository is public: everyone can then see it and its README, but only people with access can see its files."
          : "Shows the repository and its README to everyone, but its files only to people with access."
      }
      action={
        repo.gated !== "none" && (
          <ButtonLink size="small" href={repoHref(repo, "settings", "access")}>
            {pending > 0 ? `Requests (${pending.toLocaleString("en")})` : "Who has access"}
          </ButtonLink>
        )
      }
    >
      <ActionForm
        action={settingsAction(repo, "gate")}
        values={{ gatePrompt: repo.gatePrompt ?? "" }}
        className="grid max-w-reading gap-5"
        label="Gate"
      >
        <Choices legend="Gate" isLegendHidden name="gated" defaultValue={repo.gated} options={choices} />
        <TextArea
          name="gatePrompt"
          label="Text shown before a request"
          hint="For example, conditions, a license or a contact. Supports Markdown."
          maxLength={GATE_PROMPT_MAX_CHARACTERS}
          isOptional
        />
        <Save />
      </ActionForm>
    </SectionCard>
  );
}
