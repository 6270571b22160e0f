/** Something that is asked for again and again, as it tells of itself. */
export interface Asked {
  error: unknown;
  /** When the newest answer came, in ms; 0: none has come. */
  dataUpdatedAt: number;
}

const ANSWER_MS = 5_000;

/**
 * Until when an answer counts as the present, in ms: one question later may be lost, the one after it must have been answered.
 * Not at all once a question found no answer. Who is told of every change does not ask, and `every` is false: then for ever.
 */
export function presentUntil({ error, dataUpdatedAt }: Asked, every: number | false): number {
  if (error) return 0;
  return every === false ? Number.POSITIVE_INFINITY : dataUpdatedAt + 2 * every + ANSWER_MS;
}
