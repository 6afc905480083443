import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { notFound } from "#core/errors.ts";
import { rotateSecret } from "#core/oauth/apps/rotate-secret.ts";
import { addResourceServer } from "#core/oauth/resources/add-resource-server.ts";
import { findResourceApp } from "#core/oauth/resources/find-resource-app.ts";
import { listResourceServers } from "#core/oauth/resources/list-resource-servers.ts";
import { removeResourceServer } from "#core/oauth/resources/remove-resource-server.ts";
import { command } from "./command.ts";
import { splitWords } from "./split-words.ts";

const url = {
  value: "URL",
  help: "the service's address, which is the audience of its tokens",
  isRequired: true,
  field: "identifier",
} as const;

export const resourceAdd = command({
  name: "resource add",
  summary: "Registers a service beside this one, an MCP server say, that takes tokens made for it alone.",
  notes: [
    "Apps ask for such a token with resource=URL (RFC 8707), and people are asked whether they may have it. The service checks a",
    "token at the introspection endpoint with the credentials that are printed this one time. docs/guides/agents.md has an example.",
  ],
  options: {
    url,
    name: { value: "NAME", help: "what people see when an app asks for access to it", isRequired: true },
    scopes: { value: '"SCOPE …"', help: 'what its tokens may carry; "openid profile" unless given' },
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
        `${resource.name} takes tokens for ${resource.identifier}`,
        `client_id: ${clientId}`,
        `client_secret: ${secret}`,
      ].join("\n"),
    };
  },
});

export const resourceList = command({
  name: "resource list",
  summary: "Lists the services that take tokens made for them.",
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
          .join("\n") || "None are registered.",
    };
  },
});

export const resourceRotate = command({
  name: "resource rotate",
  summary: "Gives such a service a new secret. The old one stops working at once.",
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

export const resourceRemove = command({
  name: "resource remove",
  summary: "Takes such a service out, with its credentials and every token that was made for it.",
  options: { url },
  async run(values) {
    await removeResourceServer(operatorCommand, values.url, noOrigin);
    return { json: { removed: values.url }, text: `No token is made for ${values.url} any more.` };
  },
});
