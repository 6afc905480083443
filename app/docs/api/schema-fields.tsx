import type { ApiDocument, ApiSchema } from "#core/api-document.ts";
import { counted } from "#core/counted.ts";
import { resolveSchema, schemaNameOf } from "#core/docs/reference/api-reference.ts";
import { InlineCode } from "../../_components/inline-code.tsx";

const DEPTH_MAX = 5;

type SchemaFieldsProps = Readonly<{ document: ApiDocument; schema: ApiSchema; depth?: number }>;

export function SchemaFields({ document, schema, depth = 0 }: SchemaFieldsProps) {
  const resolved = itemOf(document, schema);
  const choices = resolved.anyOf ?? resolved.oneOf;
  if (choices?.some((one) => fieldsOf(document, one))) return <Choices document={document} choices={choices} depth={depth} />;
  const fields = fieldsOf(document, resolved);
  if (!fields) {
    return (
      <p className="text-muted text-small">
        <code>{typeOf(document, schema)}</code>
        {resolved.description && (
          <>
            {": "}
            <InlineCode text={resolved.description} />
          </>
        )}
      </p>
    );
  }
  return (
    <ul className="divide-y divide-line border-line border-y text-small">
      {fields.map(({ name, schema: field, isRequired }) => (
        <li key={name} className="py-2">
          <Field document={document} name={name} schema={field} isRequired={isRequired} depth={depth} />
        </li>
      ))}
    </ul>
  );
}

function Choices({ document, choices, depth }: Readonly<{ document: ApiDocument; choices: ApiSchema[]; depth: number }>) {
  return (
    <div className="grid grid-cols-1 gap-3">
      {choices.map((choice, at) => (
        <div key={schemaNameOf(choice) ?? JSON.stringify(choice).slice(0, 200)}>
          <p className="pb-1 text-muted text-small">
            {at === 0 ? "One of: " : "Or: "}
            <code>{typeOf(document, choice)}</code>
          </p>
          <SchemaFields document={document} schema={choice} depth={depth + 1} />
        </div>
      ))}
    </div>
  );
}

type FieldProps = Readonly<{
  document: ApiDocument;
  name: string;
  schema: ApiSchema;
  isRequired: boolean;
  depth: number;
}>;

function Field({ document, name, schema, isRequired, depth }: FieldProps) {
  const resolved = resolveSchema(document, schema);
  const description = schema.description ?? resolved.description;
  const hasMore = depth < DEPTH_MAX && hasFields(document, schema);
  return (
    <>
      <FieldLine name={name} type={typeOf(document, schema)} isRequired={isRequired} />
      {description && (
        <p className="mt-0.5 text-muted">
          <InlineCode text={description} />
        </p>
      )}
      <Limits schema={resolved} />
      {hasMore && (
        <details className="mt-1">
          <summary className="link w-fit text-muted">
            Fields<span className="sr-only"> of {name}</span>
          </summary>
          <div className="mt-1 border-line border-l pl-3">
            <SchemaFields document={document} schema={schema} depth={depth + 1} />
          </div>
        </details>
      )}
    </>
  );
}

export function FieldLine({ name, type, isRequired }: Readonly<{ name: string; type: string; isRequired: boolean }>) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <code className="wrap-anywhere font-medium">{name}</code>
      <span className="wrap-anywhere text-muted">{type}</span>
      <span className={isRequired ? "text-fine text-warn" : "text-fine text-muted"}>{isRequired ? "required" : "optional"}</span>
    </p>
  );
}

function Limits({ schema }: Readonly<{ schema: ApiSchema }>) {
  const { enum: choices, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: fallback } = schema;
  const limits = [
    choices && choices.length > 1 && `One of ${choices.map((one) => `\`${one}\``).join(", ")}.`,
    minimum !== undefined && minimum > -1e15 && `From ${minimum.toLocaleString("en")}.`,
    maximum !== undefined && maximum < 1e15 && `To ${maximum.toLocaleString("en")}.`,
    minLength !== undefined && `At least ${counted(minLength, "character")}.`,
    maxLength !== undefined && `At most ${counted(maxLength, "character")}.`,
    minItems !== undefined && `At least ${counted(minItems, "item")}.`,
    maxItems !== undefined && `At most ${counted(maxItems, "item")}.`,
    pattern !== undefined && `Matches \`${pattern}\`.`,
    fallback !== undefined && fallback !== null && `Default: \`${JSON.stringify(fallback)}\`.`,
  ].filter(Boolean);
  if (limits.length === 0) return null;
  return (
    <p className="wrap-anywhere mt-0.5 text-muted">
      <InlineCode text={limits.join(" ")} />
    </p>
  );
}

function itemOf(document: ApiDocument, schema: ApiSchema): ApiSchema {
  const resolved = resolveSchema(document, schema);
  return resolved.items && !resolved.properties ? itemOf(document, resolved.items) : resolved;
}

function hasFields(document: ApiDocument, schema: ApiSchema): boolean {
  const inner = itemOf(document, schema);
  return fieldsOf(document, inner) !== undefined || (inner.anyOf ?? inner.oneOf ?? []).some((one) => hasFields(document, one));
}

type NamedField = { name: string; schema: ApiSchema; isRequired: boolean };

function fieldsOf(document: ApiDocument, schema: ApiSchema): NamedField[] | undefined {
  const { properties, required = [], allOf } = itemOf(document, schema);
  if (allOf) return allOf.flatMap((part) => fieldsOf(document, part) ?? []);
  if (!properties || Object.keys(properties).length === 0) return undefined;
  return Object.entries(properties).map(([name, one]) => ({ name, schema: one, isRequired: required.includes(name) }));
}

/** `string`, `Webhook`, `array of Webhook`, `string or null`. */
export function typeOf(document: ApiDocument, schema: ApiSchema): string {
  const name = schemaNameOf(schema);
  if (name) return name;
  const { type, items, anyOf, oneOf, allOf, format, properties, additionalProperties } = schema;
  const choices = anyOf ?? oneOf;
  if (allOf) return allOf.map((one) => typeOf(document, one)).join(" with ");
  if (choices) return [...new Set(choices.map((one) => typeOf(document, one)))].join(" or ");
  if (schema.enum?.length === 1) return JSON.stringify(schema.enum[0]);
  if (items) return `array of ${typeOf(document, items)}`;
  const types = [type ?? (properties ? "object" : "any")].flat();
  if (types[0] === "object" && typeof additionalProperties === "object" && !properties) {
    return `object of ${typeOf(document, additionalProperties)}`;
  }
  return types.map((one) => (one === "string" && format ? `${one} (${format})` : one)).join(" or ");
}
