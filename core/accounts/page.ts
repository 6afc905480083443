/** Pages count from 1. A page past the end is empty. */
export type Page<T> = { items: T[]; page: number; pageSize: number; total: number };

export type PageRequest = { page?: number; pageSize?: number };

const PAGE_SIZE = 30;
const PAGE_MAX_SIZE = 100;
const PAGE_MAX = 100_000;

/** Limits a request to allowed numbers (S138). */
export function pageBounds({ page = 1, pageSize = PAGE_SIZE }: PageRequest): {
  page: number;
  pageSize: number;
  skip: number;
  take: number;
} {
  const size = bounded(pageSize, PAGE_SIZE, PAGE_MAX_SIZE);
  const number = bounded(page, 1, PAGE_MAX);
  return { page: number, pageSize: size, skip: (number - 1) * size, take: size };
}

function bounded(value: number, fallback: number, max: number): number {
  return Number.isFinite(value) && value >= 1 ? Math.min(Math.floor(value), max) : fallback;
}
