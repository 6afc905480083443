import { accessTable } from "#core/access/access-table.ts";

/** `npm run access-table` prints who may do what. docs/access.md explains it. */
console.log(accessTable());
