export type ApiSchema = {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  properties?: Record<string, ApiSchema>;
  required?: string[];
  additionalProperties?: boolean | ApiSchema;
  items?: ApiSchema;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  allOf?: ApiSchema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type ApiContent = Record<string, { schema?: ApiSchema; example?: unknown }>;

export type ApiParameter = {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  description?: string;
  schema?: ApiSchema;
  example?: unknown;
};

export type ApiResponse = { $ref?: string; description?: string; content?: ApiContent; headers?: Record<string, unknown> };

export type ApiOperation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  "x-scopes"?: string[];
  parameters?: ApiParameter[];
  requestBody?: { required?: boolean; description?: string; content: ApiContent };
  responses: Record<string, ApiResponse>;
};

export type ApiDocument = {
  openapi: string;
  info: { title: string; version: string; description?: string };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, ApiOperation>>;
  webhooks: Record<string, Record<string, ApiOperation>>;
  components: { schemas: Record<string, ApiSchema>; responses: Record<string, ApiResponse>; securitySchemes: object };
};

type Maker = () => ApiDocument;

const SLOT = Symbol.for("keyhook.api-document");
const slots = globalThis as { [SLOT]?: Maker };

/** Doors do not import each other, so the API's door provides its document here, to all bundles of Next. */
export function provideApiDocument(make: Maker): void {
  slots[SLOT] = make;
}

export function apiDocument(): ApiDocument | undefined {
  return slots[SLOT]?.();
}
