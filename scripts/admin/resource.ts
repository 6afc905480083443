import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { notFound } from "#core/errors.ts";
import { rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import {
  addResourceServer,
  findResourceApp,
  listResourceServers,
  removeResourceServer,
} from "#core/oauth/resources/manage-resource-servers.ts";
import { command } from "./command.ts";
import { splitWords } from "./option-values.ts";

const url = {
  value: "URL",
  help: "the service's URL, which is the audience of its tokens",
  isRequired: true,
  field: "identifier",
} as const;

const resourceAdd = command({
  name: "resource add",
  summary: "Registers another service, such as an MCP server, that accepts tokens issued for it.",
  notes: [
    "Apps request such a token with resource=URL (RFC 8707), and users consent to it. The service checks a token at the introspection",
    "endpoint, with the credentials that this command prints once. docs/guides/agents.md has an example.",
  ],
  options: {
    url,
    name: { value: "NAME", help: "its name on the consent page", isRequired: true },
    scopes: { value: '"SCOPE …"', help: 'the scopes of its tokens; by default "openid profile"' },
  },
  async run(values) {
    const scopes = values.scopes === undefined ? undefined : splitWords(values.scopes);
    const { resource, clientId, secret } = await addResourceServer(
      operatorCommand,
      { identifier: values.url, name: values.name, scopes },
      noOrigin,
    );
    return {
      json: { resource: resource.identifier, client_id: clientId, client_secret: secret },
      text: [
        `${resource.name} accepts tokens for ${resource.identifier}`,
        `client_id: ${clientId}`,
        `client_secret: ${secret}`,
      ].join("\n"),
    };
  },
});

const resourceList = command({
  name: "resource list",
  summary: "Lists the services that accept tokens issued for them.",
  options: {},
  async run() {
    const resources = await listResourceServers(operatorCommand);
    return {
      json: {
        resources: resources.map(({ identifier, name, scopes, clientId }) => ({
          resource: identifier,
          name,
          scopes: scopes.join(" "),
          client_id: clientId,
        })),
      },
      text:
        resources
          .map(
            ({ identifier, name, scopes, clientId }) => `${identifier}  ${name}  (${scopes.join(" ")})  client_id: ${clientId}`,
          )
          .join("\n") || "No services are registered.",
    };
  },
});

const resourceRotate = command({
  name: "resource rotate",
  summary: "Creates a new secret for a registered service. The old one stops working at once.",
  options: { url },
  async run(values) {
    const app = await findResourceApp(values.url);
    if (!app) throw notFound("Resource server");
    const { secret } = await rotateSecret(operatorCommand, app.id, {}, noOrigin);
    return {
      json: { client_id: app.clientId, client_secret: secret },
      text: [`client_id: ${app.clientId}`, `client_secret: ${secret}`].join("\n"),
    };
  },
});

const resourceRemove = command({
  name: "resource remove",
  summary: "Removes a registered service, with its credentials and every token issued for it.",
  options: { url },
  async run(values) {
    await removeResourceServer(operatorCommand, values.url, noOrigin);
    return { json: { removed: values.url }, text: `No more tokens are issued for ${values.url}.` };
  },
});

export const resourceCommands = [resourceAdd, resourceList, resourceRotate, resourceRemove];
