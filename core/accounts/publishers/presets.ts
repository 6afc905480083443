import { invalidRequest } from "#core/errors.ts";
import { oidc } from "./oidc-preset.ts";
import type { Preset } from "./preset.ts";

export const presetNames = ["github", "gitlab", "circleci", "bitbucket", "oidc"] as const;
export type PresetName = (typeof presetNames)[number];

export const isPresetName = (text: unknown): text is PresetName => presetNames.includes(text as PresetName);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BRACED_UUID = /^\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/i;
const REF = /^refs\/[^\s~^:?*[\\]+$/;
const LINE = /^[^\p{Cc}]{1,255}$/u;
const NUMBER = /^[1-9]\d{0,18}$/;

const github: Preset = {
  label: "GitHub",
  fields: [
    {
      name: "repository",
      label: "Repository",
      hint: "The owner and the name, as GitHub spells them.",
      placeholder: "octo-org/octo-repo",
      isRequired: true,
      shape: /^[A-Za-z0-9-]{1,39}\/[\w.-]{1,100}$/,
      problem: "Enter the owner and the name separated by a slash, such as octo-org/octo-repo.",
    },
    {
      name: "ref",
      label: "Branch or tag",
      hint: "Only runs of this ref. If empty, runs of every branch and tag.",
      placeholder: "refs/heads/main",
      shape: REF,
      problem: "Enter the full ref, such as refs/heads/main or refs/tags/v1.",
    },
    {
      name: "environment",
      label: "Environment",
      hint: "Only jobs of this deployment environment, which can require a review.",
      placeholder: "release",
      shape: LINE,
      problem: "Enter the environment's name as GitHub shows it.",
    },
    {
      name: "workflow",
      label: "Workflow file",
      hint: "Only jobs of this file in .github/workflows. Enter the branch or tag as well.",
      placeholder: "publish.yml",
      shape: /^[\w. -]{1,100}\.ya?ml$/,
      problem: "Enter only the file's name, such as publish.yml.",
    },
    {
      name: "repositoryId",
      label: "Repository ID",
      hint: "The repository's numeric ID. If empty, it is recorded from the first run.",
      placeholder: "74",
      shape: NUMBER,
      problem: "Enter only the number; GitHub's API returns it as id.",
    },
    {
      name: "repositoryOwnerId",
      label: "Owner ID",
      hint: "The numeric ID of the account or organization. If empty, it is recorded from the first run.",
      placeholder: "65",
      shape: NUMBER,
      problem: "Enter only the number; GitHub's API returns it as owner.id.",
    },
  ],
  read({ repository = "", ref, environment, workflow, repositoryId, repositoryOwnerId }) {
    if (workflow && !ref) {
      const sentence = "Enter the branch or tag as well: GitHub's token identifies the workflow only together with it.";
      throw invalidRequest(sentence, "ref");
    }
    return {
      issuer: "https://token.actions.githubusercontent.com",
      claims: {
        repository,
        ...(ref && { ref }),
        ...(environment && { environment }),
        ...(workflow && { workflow_ref: `${repository}/.github/workflows/${workflow}@${ref}` }),
        ...(repositoryId && { repository_id: repositoryId }),
        ...(repositoryOwnerId && { repository_owner_id: repositoryOwnerId }),
      },
    };
  },
  immutable: ["repository_id", "repository_owner_id"],
  run: ["repository", "ref", "run_id"],
};

const gitlab: Preset = {
  label: "GitLab",
  fields: [
    {
      name: "gitlabUrl",
      label: "GitLab URL",
      hint: "Only for your own installation; otherwise leave it empty.",
      placeholder: "https://gitlab.com",
      shape: /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      problem: "Enter an https URL, such as https://gitlab.example.com.",
    },
    {
      name: "projectPath",
      label: "Project",
      hint: "Its full path with all groups.",
      placeholder: "group/subgroup/project",
      isRequired: true,
      shape: /^[\w.-]+(\/[\w.-]+)+$/,
      problem: "Enter the full path of the project, such as group/project.",
    },
    {
      name: "gitlabRef",
      label: "Branch or tag",
      hint: "Only pipelines of this ref, without merge requests and child pipelines. If empty, pipelines of every branch, tag and merge request.",
      placeholder: "refs/heads/main",
      shape: REF,
      problem: "Enter the full ref, such as refs/heads/main or refs/tags/v1.",
    },
    {
      name: "gitlabEnvironment",
      label: "Environment",
      hint: "Only jobs of this deployment environment.",
      placeholder: "production",
      shape: LINE,
      problem: "Enter the environment's name as GitLab shows it.",
    },
    {
      name: "projectId",
      label: "Project ID",
      hint: "See the project's overview. If empty, it is recorded from the first run.",
      placeholder: "20",
      shape: NUMBER,
      problem: "Enter only the number.",
    },
    {
      name: "namespaceId",
      label: "Group ID",
      hint: "See the group's overview. If empty, it is recorded from the first run.",
      placeholder: "72",
      shape: NUMBER,
      problem: "Enter only the number.",
    },
  ],
  read({ gitlabUrl, projectPath = "", gitlabRef, gitlabEnvironment, projectId, namespaceId }) {
    return {
      issuer: (gitlabUrl ?? "https://gitlab.com").replace(/(?<!\/)\/+$/, ""),
      claims: {
        project_path: projectPath,
        // A tag may have the same `ref`.
        ...(gitlabRef && { ref_path: gitlabRef }),
        ...(gitlabEnvironment && { environment: gitlabEnvironment }),
        ...(projectId && { project_id: projectId }),
        ...(namespaceId && { namespace_id: namespaceId }),
      },
    };
  },
  immutable: ["project_id", "namespace_id"],
  run: ["project_path", "ref", "job_id"],
};

const circleci: Preset = {
  label: "CircleCI",
  fields: [
    {
      name: "circleciOrgId",
      label: "Organization ID",
      hint: "See the organization's settings, under Overview.",
      placeholder: "3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f",
      isRequired: true,
      shape: UUID,
      problem: "Enter the ID from CircleCI, such as 3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f.",
    },
    {
      name: "circleciProjectId",
      label: "Project ID",
      hint: "See the project's settings, under Overview.",
      placeholder: "6a1b2c3d-4e5f-6789-abcd-ef0123456789",
      isRequired: true,
      shape: UUID,
      problem: "Enter the ID from CircleCI, such as 6a1b2c3d-4e5f-6789-abcd-ef0123456789.",
    },
    {
      name: "vcsOrigin",
      label: "Repository",
      hint: "Only pipelines of this repository. If empty, also those of its forks, if CircleCI passes secrets to them.",
      placeholder: "github.com/octo-org/octo-repo",
      shape: /^[\w.-]+(\/[\w.~-]+)+$/,
      problem: "Enter the repository's host and path without https://, such as github.com/octo-org/octo-repo.",
    },
    {
      name: "vcsRef",
      label: "Branch or tag",
      hint: "Only pipelines of this ref. Enter the repository as well.",
      placeholder: "refs/heads/main",
      shape: REF,
      problem: "Enter the full ref, such as refs/heads/main.",
    },
  ],
  read({ circleciOrgId = "", circleciProjectId = "", vcsOrigin, vcsRef }) {
    if (vcsRef && !vcsOrigin) {
      throw invalidRequest("Enter the repository as well: a fork may have a branch of the same name.", "vcsOrigin");
    }
    return {
      issuer: `https://oidc.circleci.com/org/${circleciOrgId.toLowerCase()}`,
      claims: {
        "oidc.circleci.com/project-id": circleciProjectId.toLowerCase(),
        // A user who reruns a job with SSH has access to its machine while it runs.
        "oidc.circleci.com/ssh-rerun": "false",
        ...(vcsOrigin && { "oidc.circleci.com/vcs-origin": vcsOrigin }),
        ...(vcsRef && { "oidc.circleci.com/vcs-ref": vcsRef }),
      },
    };
  },
  // The issuer contains the organization's id.
  immutable: ["oidc.circleci.com/project-id"],
  run: ["oidc.circleci.com/project-id", "oidc.circleci.com/vcs-ref", "oidc.circleci.com/pipeline-id"],
};

const bitbucket: Preset = {
  label: "Bitbucket",
  fields: [
    {
      name: "workspace",
      label: "Workspace",
      hint: "As in the workspace's URL.",
      placeholder: "octo-team",
      isRequired: true,
      shape: /^[\w-]{1,62}$/,
      problem: "Enter the workspace as in its URL, without slashes.",
    },
    {
      name: "repositoryUuid",
      label: "Repository UUID",
      hint: "See the repository's settings, under OpenID Connect.",
      placeholder: "{6a1b2c3d-4e5f-6789-abcd-ef0123456789}",
      isRequired: true,
      shape: BRACED_UUID,
      problem: "Enter the UUID from Bitbucket, such as {6a1b2c3d-4e5f-6789-abcd-ef0123456789}.",
    },
    {
      name: "branchName",
      label: "Branch",
      hint: "Only pipelines of this branch, including those of pull requests from it into other branches. To exclude these, enter a deployment environment that only this branch can deploy to.",
      placeholder: "main",
      shape: LINE,
      problem: "Enter the name of a branch.",
    },
    {
      name: "deploymentEnvironmentUuid",
      label: "Deployment environment UUID",
      hint: "Only steps that deploy to this environment.",
      placeholder: "{3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f}",
      shape: BRACED_UUID,
      problem: "Enter the UUID from Bitbucket, with its braces.",
    },
  ],
  read({ workspace = "", repositoryUuid = "", branchName, deploymentEnvironmentUuid }) {
    return {
      issuer: `https://api.bitbucket.org/2.0/workspaces/${workspace}/pipelines-config/identity/oidc`,
      claims: {
        repositoryUuid: braced(repositoryUuid),
        ...(branchName && { branchName }),
        ...(deploymentEnvironmentUuid && { deploymentEnvironmentUuid: braced(deploymentEnvironmentUuid) }),
      },
    };
  },
  immutable: ["repositoryUuid", "workspaceUuid"],
  run: ["repositoryUuid", "branchName", "pipelineUuid"],
};

const braced = (uuid: string): string => `{${uuid.replace(/[{}]/g, "").toLowerCase()}}`;

export const presets: Readonly<Record<PresetName, Preset>> = { github, gitlab, circleci, bitbucket, oidc };
