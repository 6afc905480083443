import { accessTable } from "#core/access/access-table.ts";

/** `npm run access-table` prints who may do what, from core/access/rules.ts. docs/access.md explains it. */
console.log(accessTable());
