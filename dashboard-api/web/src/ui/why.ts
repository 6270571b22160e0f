import type { Clause } from "../api/live.gen";

let say: (because: readonly Clause[]) => string = () => "";

/** Has reasons said by this from now on, where it finds words. */
export const sayWith = (words: typeof say): void => {
  say = words;
};

/** Why something is as it is, in the language of the page as far as that can be told: else as the server says it. */
export const whyWords = (sentence: string, because: readonly Clause[] | undefined): string =>
  say(because ?? []) || sentence;
